// Workloads on the simulator: what their metrics are of, and that they end.
#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

RunResult RunOnSim(const std::string& settings) {
  config::Sources sources;
  sources.assignments = config::ParseEnvironment(settings);
  const config::Config config = config::Load(sources).config;
  return Run(config, config::LoadPlatform(config.platform), {});
}

double MetricOf(const RunResult& result, const std::string& name) {
  BOOST_TEST_REQUIRE(result.ok, result.error);
  for (const Metric& metric : result.metrics) {
    if (metric.name == name) return metric.value;
  }
  BOOST_TEST_REQUIRE(false, "there is no metric " << name);
  return 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(SimulatedTest)

// 64 messages of each thread's warm-up wait in its queue, beside 320 that are measured.
BOOST_AUTO_TEST_CASE(GoodputIsOfTheMeasuredOperationsAlone) {
  const std::string goodput =
      "workload.kind=goodput workload.payload=16 KiB workload.threads=2 transport.qps_per_peer=2 "
      "transport.sq_depth_wqebbs=64 workload.operations=640 ";
  const double cold = MetricOf(RunOnSim(goodput + "workload.warm_up=0"), "goodput");
  const double warm = MetricOf(RunOnSim(goodput + "workload.warm_up=640"), "goodput");
  const double longer =
      MetricOf(RunOnSim(goodput + "workload.warm_up=640 workload.operations=12800"), "goodput");
  BOOST_TEST(warm > 0.99 * cold);
  BOOST_TEST(warm > 0.97 * longer);
}

// Also with lanes that post together, of one warp and of two on one QP.
BOOST_AUTO_TEST_CASE(GoodputEndsWithEveryPublication) {
  const std::string goodput =
      "workload.kind=goodput workload.payload=1 KiB workload.threads=64 workload.operations=1280 "
      "workload.warm_up=640 ";
  for (const std::string publication :
       {"per_thread transport.qps_per_peer=64",
        "batched transport.qps_per_peer=64 "
        "transport.batch=4",
        "ordered_handoff workload.threads_per_qp=64", "locked workload.threads_per_qp=64",
        "last_writer workload.threads_per_qp=64",
        "cooperative transport.qps_per_peer=2 workload.threads_per_qp=32",
        "cooperative workload.threads_per_qp=64"}) {
    const RunResult result = RunOnSim(goodput + "transport.publication=" + publication);
    BOOST_TEST(result.ok, publication << ": " << result.error);
    BOOST_TEST(result.violation_count == 0u, publication);
  }
}

// A round is one put, which fills no batch.
BOOST_AUTO_TEST_CASE(ARoundTripEndsWithEveryPublicationThatBatches) {
  for (const std::string publication :
       {"batched", "ordered_handoff", "last_writer", "cooperative workload.threads_per_qp=32"}) {
    const RunResult result = RunOnSim(
        "workload.kind=round_trip workload.operations=50 workload.warm_up=5 "
        "transport.batch=4 transport.publication=" +
        publication);
    BOOST_TEST(MetricOf(result, "round_trip_p50") > 0, publication);
    BOOST_TEST(result.violation_count == 0u, publication);
  }
}

BOOST_AUTO_TEST_CASE(LanesOfAWarpAreOnePutLatency) {
  const RunResult result = RunOnSim(
      "workload.kind=put_latency workload.operations=50 workload.warm_up=5 "
      "transport.publication=cooperative workload.threads=32 workload.threads_per_qp=32");
  BOOST_TEST(MetricOf(result, "put_completion_latency") > 0);
  BOOST_TEST(result.violation_count == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost::workloads
