#include "workloads/gpu_launch.h"
#include "workloads/kinds.h"
#include "workloads/launch.h"
#include "workloads/round_trip.h"

namespace ringpost::workloads {
namespace {

struct Kernel {
  const RoundTripArguments* arguments;
  Samples* samples;
  Outcome* outcome;
  template <class Publication, class Ordering, class P>
  void operator()(P& port, uint32_t) {
    RoundTripKernel<P, Publication, Ordering>(port, *arguments, *samples, *outcome);
  }
  std::unique_ptr<GpuLaunch> OnGpu(Gpu& gpu, const GpuGrid& grid) const {
    return LaunchRoundTrip(gpu, grid, *arguments, samples, outcome);
  }
};

}  // namespace

void RunRoundTrip(Machine& machine, const config::Config& config, RunResult& result,
                  Outcome& outcome) {
  const Pairing pairing = ConnectRanks(machine, config, 1, false, outcome);
  RegisteredMemory flags[2];
  RegisteredMemory words[2];
  RegisteredMemory sources[2];
  for (uint32_t rank = 0; rank < 2; ++rank) {
    flags[rank] = AllocateOn(machine, rank, config, sizeof(uint64_t), outcome);
    words[rank] = AllocateOn(machine, rank, config, sizeof(uint64_t), outcome);
    sources[rank] = AllocateOn(machine, rank, config, sizeof(uint64_t), outcome);
  }
  if (!outcome.ok) return;
  RoundTripArguments arguments[2];
  Samples samples;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    RoundTripArguments& a = arguments[rank];
    a.qps = TableFor(rank == 0 ? pairing.first : pairing.second, 0);
    a.peer_flag = flags[1 - rank].Remote(0);
    a.peer_word = words[1 - rank].Remote(0);
    a.adds = config.workload.signal == config::SignalKind::kAdd;
    a.my_flag = {flags[rank].address};
    if (!SendsInline(config)) a.source = sources[rank].Local(0, sizeof(uint64_t));
    a.warm_up = config.workload.warm_up;
    a.rounds = config.workload.warm_up + config.workload.operations;
    a.starts = rank == 0;
    if (!LaunchOn(machine, rank, config, 1, Kernel{&a, &samples, &outcome})) {
      outcome.Fail("this pair of publication and ordering is not built");
      return;
    }
  }
  const std::string wrong = machine.Run();
  if (!wrong.empty()) outcome.Fail(wrong);
  if (!outcome.ok || samples.Empty()) return;
  result.metrics.push_back({"round_trip_p50", samples.Median(), "us"});
  result.metrics.push_back({"round_trip_p99", samples.Percentile(99), "us"});
}

}  // namespace ringpost::workloads
