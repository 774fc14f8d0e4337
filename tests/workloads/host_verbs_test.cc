// Threads of a host's cores that post through the transport's own queues, at costs of their own.
#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

constexpr char kHost[] =
    "platform=p_h100 workload.kind=host_verbs transport.placement=host "
    "transport.ordering=system_fence transport.sq_depth_wqebbs=64 transport.qps_per_peer=64 "
    "workload.direction=send ";
constexpr char kBatches[] =
    "transport.publication=batched transport.batch=8 workload.writes_per_visit=8 ";

RunResult RunWith(const std::string& settings,
                  const sim::Platform& platform = config::LoadPlatform("p_h100")) {
  config::Sources sources;
  sources.assignments = config::ParseEnvironment(kHost + settings);
  const RunResult result = Run(config::Load(sources).config, platform, {});
  BOOST_TEST_REQUIRE(result.ok, result.error);
  BOOST_TEST(result.violation_count == 0u, (result.violations.empty() ? "" : result.violations[0]));
  return result;
}

double MetricOf(const RunResult& result, const std::string& name) {
  for (const Metric& metric : result.metrics) {
    if (metric.name == name) return metric.value;
  }
  BOOST_TEST_REQUIRE(false, "there is no metric " << name);
  return 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(HostVerbsTest)

BOOST_AUTO_TEST_CASE(ABatchSharesADoorbell) {
  BOOST_TEST(MetricOf(RunWith(""), "doorbells_per_wqe") == 1);
  BOOST_TEST(MetricOf(RunWith(kBatches), "doorbells_per_wqe") == 1.0 / 8,
             boost::test_tools::tolerance(0.02));
}

// What a core needs for a WQE and for a ring, and little beside.
BOOST_AUTO_TEST_CASE(OneCoreIsTheLimitOfItsRate) {
  sim::Platform platform = config::LoadPlatform("p_h100");
  platform.host_wqe_build.ns = 100;
  platform.host_ring.ns = 1000;
  BOOST_TEST(MetricOf(RunWith("", platform), "message_rate") == 1e3 / 1100,
             boost::test_tools::tolerance(0.15));
  BOOST_TEST(MetricOf(RunWith(kBatches, platform), "message_rate") == 8e3 / 1800,
             boost::test_tools::tolerance(0.15));
}

BOOST_AUTO_TEST_CASE(CoresAddUpUntilTheNicIsTheLimit) {
  const double one = MetricOf(RunWith(kBatches), "message_rate");
  BOOST_TEST(
      MetricOf(RunWith(kBatches + std::string("workload.threads=4")), "message_rate") == 4 * one,
      boost::test_tools::tolerance(0.05));
  // 4.13 ns a packet.
  BOOST_TEST(MetricOf(RunWith(kBatches + std::string("workload.threads=64")), "message_rate") ==
                 1e3 / 4.13,
             boost::test_tools::tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(WhatAGpuThreadCostsIsNothingToACore) {
  sim::Platform platform = config::LoadPlatform("p_h100");
  const RunResult before = RunWith("", platform);
  platform.wqe_build.cycles *= 10;
  platform.fence_sc_system.ns *= 10;
  platform.doorbell_delivery.ns *= 10;
  const RunResult after = RunWith("", platform);
  BOOST_TEST(MetricOf(after, "message_rate") == MetricOf(before, "message_rate"));
  BOOST_TEST(MetricOf(after, "put_completion_latency") ==
             MetricOf(before, "put_completion_latency"));
}

BOOST_AUTO_TEST_CASE(TheLatencyHasTheWayOfTheDoorbellAndThatOfThePayload) {
  sim::Platform platform = config::LoadPlatform("p_h100");
  const double inlined = MetricOf(RunWith("", platform), "put_completion_latency");
  platform.host_doorbell_delivery.ns += 1000;
  BOOST_TEST(MetricOf(RunWith("", platform), "put_completion_latency") - inlined == 1,
             boost::test_tools::tolerance(0.1));
  platform.host_doorbell_delivery.ns -= 1000;
  const double pointer =
      MetricOf(RunWith("workload.inline=never", platform), "put_completion_latency");
  BOOST_TEST(pointer - inlined == platform.read_gpu.ns / 1e3, boost::test_tools::tolerance(0.2));
}

BOOST_AUTO_TEST_CASE(TwoWaysCostMoreThanOne) {
  const std::string many = std::string(kBatches) + "workload.threads=32 ranks=3 ";
  const double send = MetricOf(RunWith(many), "message_rate");
  const double both = MetricOf(RunWith(many + "workload.direction=both"), "message_rate");
  BOOST_TEST(both < 0.8 * send);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost::workloads
