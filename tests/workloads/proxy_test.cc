// Workloads by way of a proxy, in virtual time: each choice moves what its mechanism says.
#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "sim/cost/cost_table.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

// An experiment of configs/experiments with some keys set otherwise.
RunResult RunProxy(const std::string& experiment, const std::string& settings = "") {
  config::Sources sources;
  sources.file = config::FindRoot() + "/configs/experiments/" + experiment + ".yaml";
  sources.assignments = config::ParseEnvironment(settings);
  const config::Config config = config::Load(sources).config;
  return Run(config, config::LoadPlatform(config.platform), {});
}

double MetricOf(const RunResult& result, const std::string& name) {
  BOOST_TEST_REQUIRE(result.ok, result.error);
  BOOST_TEST(result.violation_count == 0u, (result.violations.empty() ? "" : result.violations[0]));
  for (const Metric& metric : result.metrics) {
    if (metric.name == name) return metric.value;
  }
  BOOST_TEST_REQUIRE(false, "there is no metric " << name);
  return 0;
}

double Latency(const std::string& settings, const std::string& metric) {
  return MetricOf(RunProxy("proxy_latency", settings), metric);
}
double Rate(const std::string& settings) {
  return MetricOf(RunProxy("proxy_rate", settings), "message_rate");
}

uint64_t CounterOf(const RunResult& result, const std::string& name) {
  for (const auto& [counter, value] : result.counters) {
    if (counter == name) return value;
  }
  BOOST_TEST_REQUIRE(false, "there is no counter " << name);
  return 0;
}

sim::CostTable Costs() { return sim::MakeCostTable(config::LoadPlatform("p_ib"), 0); }
double InUs(sim::Duration duration) { return static_cast<double>(duration.ps) / 1e6; }

}  // namespace

BOOST_AUTO_TEST_SUITE(ProxyTest)

// An atomic, a read of host memory and a release at system scope are what the other does without.
BOOST_AUTO_TEST_CASE(TheBaselineHandOffCostsItsAtomicItsProgressReadAndItsRelease) {
  const sim::GpuCosts gpu = Costs().gpu;
  const double tuned = Latency("", "issue_latency");
  const double baseline = Latency("proxy.handoff=baseline", "issue_latency");
  const double more = InUs(gpu.atomic_gpu + gpu.load_host + gpu.fence_acq_rel_system);
  BOOST_TEST(tuned < 0.15);
  BOOST_TEST(baseline - tuned > 0.95 * more);
  BOOST_TEST(baseline - tuned < 1.10 * more);
}

BOOST_AUTO_TEST_CASE(ACounterInGpuMemorySavesTheProducerItsReadsOfHostMemory) {
  const double in_gpu = Latency("", "put_completion_latency");
  const double in_host = Latency("proxy.counter=host", "put_completion_latency");
  const sim::GpuCosts gpu = Costs().gpu;
  BOOST_TEST(in_host > in_gpu);
  BOOST_TEST(in_host - in_gpu < InUs(gpu.load_host) + 0.1);
}

// Of a chain the NIC fetches all.
BOOST_AUTO_TEST_CASE(BlueFlameSavesALoneWqeItsFetch) {
  const double rung = Latency("", "put_completion_latency");
  const double carried = Latency("proxy.blueflame=true", "put_completion_latency");
  const double fetch = InUs(Costs().path.read_host);
  BOOST_TEST(rung - carried > 0.9 * fetch);
  // And as what it waits for is seen by polling, up to one poll.
  BOOST_TEST(rung - carried < fetch + InUs(Costs().gpu.load_gpu));
}

BOOST_AUTO_TEST_CASE(AWarmWorkerIsFasterByNoMoreThanItsClock) {
  const double cold = Rate(""), warm = Rate("host.clock_state=warm");
  BOOST_TEST(warm > 1.1 * cold);
  BOOST_TEST(warm < 4000.0 / 2500.0 * cold);
  // By less than is between two looks of the thread that waits.
  BOOST_TEST(Latency("host.clock_state=warm", "put_completion_latency") <=
             Latency("", "put_completion_latency"));
}

BOOST_AUTO_TEST_CASE(WhatTheWarmUpLeavesInARingIsNoneOfTheRate) {
  const double alone = Rate("workload.warm_up=0");
  BOOST_TEST(Rate("") > 0.95 * alone);
  BOOST_TEST(Rate("") < 1.05 * alone);
}

BOOST_AUTO_TEST_CASE(AChainSavesDoorbellsAndWithThemTime) {
  const RunResult one = RunProxy("proxy_rate"), chained = RunProxy("proxy_rate", "proxy.batch=16");
  BOOST_TEST(MetricOf(chained, "message_rate") > 1.5 * MetricOf(one, "message_rate"));
  BOOST_TEST(CounterOf(one, "proxy0.doorbells") == CounterOf(one, "proxy0.operations"));
  BOOST_TEST(4 * CounterOf(chained, "proxy0.doorbells") < CounterOf(chained, "proxy0.operations"));
}

BOOST_AUTO_TEST_CASE(WorkersOfRingsOfTheirOwnAddUp) {
  const double one = Rate(""), two = Rate("proxy.workers=2"), four = Rate("proxy.workers=4");
  BOOST_TEST(two > 1.8 * one);
  BOOST_TEST(two < 2.2 * one);
  BOOST_TEST(four > 1.8 * two);
}

BOOST_AUTO_TEST_CASE(ARingThatAllThreadsShareIsOneWorkersWhateverTheirNumber) {
  const std::string shared =
      "proxy.handoff=baseline transport.qps_per_peer=1 workload.threads_per_qp=32";
  const double one = Rate(shared), four = Rate(shared + " proxy.workers=4");
  BOOST_TEST(four < 1.05 * one);
  BOOST_TEST(four > 0.95 * one);
}

BOOST_AUTO_TEST_CASE(ARoundTripGoesThroughTheProxiesOfBothRanks) {
  const std::string trip = "workload.kind=round_trip workload.operations=50 workload.warm_up=5";
  const RunResult result = RunProxy("proxy_latency", trip);
  BOOST_TEST(MetricOf(result, "round_trip_p50") > 0);
  BOOST_TEST(CounterOf(result, "proxy0.operations") == 55u);
  BOOST_TEST(CounterOf(result, "proxy1.operations") == 55u);
}

BOOST_AUTO_TEST_CASE(PutsOfMemoryByEitherHandOffAreOrderedInEveryMode) {
  for (const std::string handoff : {"tuned", "baseline"}) {
    for (const std::string mode : {"strict", "timed", "adversarial"}) {
      const RunResult result =
          RunProxy("proxy_latency", "workload.payload=4 KiB workload.operations=50 proxy.handoff=" +
                                        handoff + " visibility.mode=" + mode);
      BOOST_TEST(MetricOf(result, "put_completion_latency") > 0, handoff << ", " << mode);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost::workloads
