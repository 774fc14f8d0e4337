// Who shares a QP follows from how threads are laid out, not from how the user meant it.
#include <boost/test/unit_test.hpp>

#include "configs/schema/config.h"
#include "configs/schema/platform_loader.h"
#include "tests/seed.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

BOOST_AUTO_TEST_CASE(BlocksSmallerThanAWarpShareACooperativeQpSafely) {
  config::Config config = config::DefaultConfig();
  config.seed = TestSeed();
  config.workload.kind = config::WorkloadKind::kMessageRate;
  config.transport.publication = config::Publication::kCooperative;
  config.workload.operations = 1024;
  config.workload.threads = 64;
  config.workload.threads_per_qp = 32;
  for (const uint64_t sms : {1, 2, 4, 8}) {
    config.workload.sms_count = sms;
    const RunResult result = Run(config, config::LoadPlatform("p_ib"), {});
    BOOST_TEST(result.ok, sms << " SMs: " << result.error);
    BOOST_TEST(result.violation_count == 0u);
  }
}

}  // namespace
}  // namespace ringpost::workloads
