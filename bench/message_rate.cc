// message_rate: simulated messages for each second of processor time, in two shapes of run.
//
//   bazel run //bench:message_rate
//
// `messages/s` counts WQEs over the processor time of the whole process, set-up and the check of
// every payload word included; `simulated_M/s` is the rate inside the simulation, in millions.

#include <benchmark/benchmark.h>

#include <exception>
#include <iostream>
#include <string>

#include "configs/schema/root.h"
#include "tools/ringpost/experiment.h"
#include "tools/ringpost/huge_heap.h"
#include "workloads/runner.h"

namespace ringpost::bench {
namespace {

struct Shape {
  const char* name;
  const char* file;
};

constexpr Shape kShapes[] = {
    {"16_qps/4096_threads/32_wqes_per_doorbell", "message_rate.yaml"},
    {"16_qps/16_threads/1_wqe_per_doorbell", "message_rate_single.yaml"},
};

double CounterOf(const workloads::RunResult& result, const std::string& name) {
  for (const auto& [counter, count] : result.counters) {
    if (counter == name) return static_cast<double>(count);
  }
  return 0;
}

void RunShape(benchmark::State& state, const tools::Experiment& experiment) {
  double messages = 0;
  double events = 0;
  workloads::RunResult result;
  for (auto _ : state) {
    result = workloads::Run(experiment.loaded.config, experiment.platform, {});
    if (!result.ok || result.violation_count > 0) {
      state.SkipWithError(result.ok ? "the ordering checker found violations"
                                    : result.error.c_str());
      return;
    }
    messages += CounterOf(result, "nic0.wqes");
    events += CounterOf(result, "engine.events");
  }
  const double doorbells = CounterOf(result, "nic0.doorbells");
  state.counters["messages/s"] = {messages, benchmark::Counter::kIsRate};
  state.counters["events/message"] = events / messages;
  state.counters["wqes/doorbell"] = CounterOf(result, "nic0.wqes") / doorbells;
  const workloads::Metric* rate = tools::FindMetric(result, "message_rate");
  state.counters["simulated_M/s"] = rate == nullptr ? 0 : rate->value;
}

void Register(const Shape& shape) {
  const std::string path = config::FindRoot() + "/bench/" + shape.file;
  const tools::Experiment experiment = tools::LoadExperiment({path, {}});
  const config::Config& config = experiment.loaded.config;
  benchmark::AddCustomContext(shape.name,
                              tools::IdentityLine(config.platform, experiment.hash, config.seed));
  benchmark::RegisterBenchmark(
      shape.name, [experiment](benchmark::State& state) { RunShape(state, experiment); })
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime();
}

}  // namespace
}  // namespace ringpost::bench

int main(int argc, char** argv) {
  ringpost::tools::UseHugePagesForHeap();  // as the command does
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    for (const auto& shape : ringpost::bench::kShapes) ringpost::bench::Register(shape);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
