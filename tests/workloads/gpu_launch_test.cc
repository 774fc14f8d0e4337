// Workloads as kernels, up to the GPU itself: host threads stand in for it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/schema/config.h"
#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "tests/workloads/stand_in_gpu.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

config::Config ConfigOf(const std::string& settings) {
  config::Sources sources;
  sources.assignments = config::ParseEnvironment("live.poll=yield live.threads=gpu " + settings);
  return config::Load(sources).config;
}

RunResult RunOnStandIn(const std::string& settings, std::vector<config::FaultRule> faults = {}) {
  config::Config config = ConfigOf("backend=live " + settings);
  config.faults.rules = std::move(faults);
  RunOptions options;
  options.make_gpu = [](uint32_t) -> Result<std::unique_ptr<Gpu>> {
    return std::unique_ptr<Gpu>(std::make_unique<StandInGpu>());
  };
  return Run(config, config::LoadPlatform(config.platform), options);
}

RunResult RunOnSim(const std::string& settings) {
  const config::Config config = ConfigOf(settings);
  return Run(config, config::LoadPlatform(config.platform), {});
}

std::multiset<std::string> MetricsOf(const RunResult& result) {
  std::multiset<std::string> names;
  for (const Metric& metric : result.metrics) names.insert(metric.name + " " + metric.unit);
  return names;
}

uint64_t CounterOf(const RunResult& result, const std::string& name) {
  for (const auto& [each, value] : result.counters) {
    if (each == name) return value;
  }
  return ~uint64_t{0};
}

const std::string kPlacements[] = {
    "transport.placement=gpu transport.ordering=gpu_fence",
    "transport.placement=gpu workload.placement=host transport.ordering=system_release",
    "transport.placement=host workload.placement=gpu transport.ordering=system_fence",
    "transport.placement=host workload.placement=host transport.ordering=system_release",
};

// Each run checks its payload itself. 300 operations: more than wait in shared memory at a time.
void CheckAsOnSim(const std::string& settings, uint64_t operations) {
  for (const std::string& placement : kPlacements) {
    const std::string all = placement + " " + settings;
    const RunResult here = RunOnStandIn(all);
    BOOST_TEST(here.ok, all << ": " << here.error);
    const RunResult simulated = RunOnSim(all);
    BOOST_TEST(simulated.ok, all << ": " << simulated.error);
    BOOST_TEST(MetricsOf(here) == MetricsOf(simulated), all);
    for (const Metric& metric : here.metrics) BOOST_TEST(metric.value > 0, all << metric.name);
    for (const char* counter : {"nic0.wqes", "nic1.wqes"}) {
      BOOST_TEST(CounterOf(here, counter) == CounterOf(simulated, counter), all << counter);
    }
    BOOST_TEST(CounterOf(here, "nic0.wqes") == operations, all);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(GpuLaunchTest)

BOOST_AUTO_TEST_CASE(PutLatencyTellsAsAKernelWhatItTellsOnTheSimulator) {
  CheckAsOnSim("workload.kind=put_latency workload.operations=300 workload.warm_up=10", 310);
  CheckAsOnSim(
      "workload.kind=put_latency workload.operations=300 workload.warm_up=10 "
      "workload.inline=never workload.payload=512 B transport.qps_per_peer=3 "
      "transport.completion=all_qps",
      310);
}

BOOST_AUTO_TEST_CASE(RoundTripTellsAsAKernelWhatItTellsOnTheSimulator) {
  CheckAsOnSim("workload.kind=round_trip workload.operations=300 workload.warm_up=10", 310);
}

BOOST_AUTO_TEST_CASE(MessageRateTellsAsAKernelWhatItTellsOnTheSimulator) {
  CheckAsOnSim(
      "workload.kind=message_rate workload.operations=600 workload.warm_up=30 workload.threads=3 "
      "transport.qps_per_peer=3 workload.inline=never workload.payload=100 B",
      630);
}

// Of 7 variants four send, each in three kernels.
BOOST_AUTO_TEST_CASE(CallersTellOfEveryVariantAndTheirMessagesArrive) {
  const std::string caller =
      "workload.kind=compute_caller workload.placement=host transport.placement=host "
      "transport.ordering=system_release workload.operations=2 workload.warm_up=1 ";
  const RunResult result = RunOnStandIn(caller + "workload.messages_per_block=4");
  BOOST_TEST_REQUIRE(result.ok, result.error);
  BOOST_TEST(result.metrics.size() == 3 * 7u);
  BOOST_TEST(result.metrics[0].name == "absent.kernel_time");
  BOOST_TEST(result.metrics[20].name == "send_wait_separate.blocks_per_sm");
  BOOST_TEST(CounterOf(result, "nic0.wqes") == 4u * 3 * 4);
  const RunResult silent = RunOnStandIn(caller + "workload.messages_per_block=0");
  BOOST_TEST_REQUIRE(silent.ok, silent.error);
  BOOST_TEST(silent.metrics.size() == 3 * 3u);
  BOOST_TEST(CounterOf(silent, "nic0.wqes") == 0u);
}

BOOST_AUTO_TEST_CASE(LatenciesInCyclesBecomeTimes) {
  const RunResult result = RunOnStandIn(
      "workload.kind=put_latency workload.operations=200 workload.warm_up=0 "
      "transport.ordering=system_release");
  BOOST_TEST_REQUIRE(result.ok, result.error);
  double issue = 0, completion = 0, rest = 0;
  for (const Metric& metric : result.metrics) {
    if (metric.name == "issue_latency") issue = metric.value;
    if (metric.name == "put_completion_latency") completion = metric.value;
    if (metric.name == "doorbell_to_cqe") rest = metric.value;
  }
  // A put to another thread and back takes more than a cycle, and less than the 30 s it may take.
  BOOST_TEST(issue < completion);
  BOOST_TEST(rest < completion);
  BOOST_TEST(completion > 0.01);
  BOOST_TEST(completion < 30e6);
}

BOOST_AUTO_TEST_CASE(WhatFailsInAKernelIsToldAsInAHostThread) {
  config::FaultRule drop;
  drop.where = config::FaultPlace::kWire;
  drop.kind = config::FaultKind::kDrop;
  const RunResult result =
      RunOnStandIn("workload.kind=put_latency workload.operations=5 workload.warm_up=0", {drop});
  BOOST_TEST(!result.ok);
  BOOST_TEST(result.error.starts_with("a put completed in error: QP "));
  BOOST_TEST(result.error.find("syndrome 0x15") != std::string::npos, result.error);
}

BOOST_AUTO_TEST_CASE(AGpuThatCannotBeOpenedEndsTheRun) {
  const config::Config config = ConfigOf("backend=live");
  RunOptions options;
  options.make_gpu = [](uint32_t) -> Result<std::unique_ptr<Gpu>> { return Error{"no GPU"}; };
  const RunResult result = Run(config, config::LoadPlatform(config.platform), options);
  BOOST_TEST(!result.ok);
  BOOST_TEST(result.error == "no GPU");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost::workloads
