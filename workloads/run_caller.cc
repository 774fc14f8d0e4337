#include <fmt/format.h>

#include <cstring>

#include "workloads/gpu_caller.h"
#include "workloads/kinds.h"
#include "workloads/setup.h"

namespace ringpost::workloads {
namespace {

// About 2 ms of an H100, whatever the number of values.
constexpr uint32_t kComputeSteps = 65536 * 8;
constexpr uint32_t kStreamSteps = 1024 * 16;
constexpr uint64_t kDataWords = 1u << 27;  // more than caches hold

CallerArguments ArgumentsOf(const config::Config& config, const Pairing& pairing,
                            const RegisteredMemory& target) {
  CallerArguments arguments;
  const bool streams = config.workload.kind == config::WorkloadKind::kStreamingCaller;
  arguments.work = streams ? CallerWork::kStream : CallerWork::kCompute;
  arguments.live_values = static_cast<uint32_t>(config.workload.live_values);
  arguments.messages = static_cast<uint32_t>(config.workload.messages_per_block);
  arguments.rounds = (streams ? kStreamSteps : kComputeSteps) / arguments.live_values;
  arguments.data_words = kDataWords;
  arguments.warm_up = config.workload.warm_up;
  arguments.repetitions = config.workload.operations;
  arguments.views = pairing.first;
  arguments.target = target.Remote(0);
  return arguments;
}

// Each block's slot holds the number of its last message.
void CheckSlots(Machine& machine, const RegisteredMemory& target, uint64_t blocks, uint64_t sent,
                Outcome& outcome) {
  std::vector<uint8_t> slots(blocks * kCallerStride);
  machine.Peek(target.address, slots.data(), slots.size());
  uint64_t wrong = 0;
  for (uint64_t block = 0; block < blocks; ++block) {
    uint64_t last = 0;
    std::memcpy(&last, slots.data() + block * kCallerStride, sizeof(last));
    if (last != sent) ++wrong;
  }
  if (wrong > 0) outcome.Fail(fmt::format("{} payload words at the target are wrong", wrong));
}

}  // namespace

void RunCaller(Machine& machine, const config::Config& config, RunResult& result,
               Outcome& outcome) {
  const auto blocks = static_cast<uint32_t>(config.workload.threads);
  const Pairing pairing = ConnectRanks(machine, config, blocks, false, outcome);
  const RegisteredMemory target =
      AllocateOn(machine, 1, config, uint64_t{blocks} * kCallerStride, outcome);
  if (!outcome.ok) return;
  CallerResults results;
  if (machine.Owns(0)) {
    const CallerArguments arguments = ArgumentsOf(config, pairing, target);
    const GpuGrid grid{blocks, 1, NameOf(config.transport.publication),
                       NameOf(config.transport.ordering)};
    Kernels kernels;
    kernels.gpu = [&](Gpu& gpu, const GpuGrid& where) {
      return LaunchCallers(gpu, where, arguments, &results, &outcome);
    };
    machine.Launch(0, {}, grid, kernels);
  }
  const std::string wrong = machine.Run();
  if (!wrong.empty()) outcome.Fail(wrong);
  if (!outcome.ok) return;
  // Only rank 0 knows how much it has sent.
  if (machine.Owns(0) && machine.Owns(1)) {
    CheckSlots(machine, target, blocks, results.sent, outcome);
  }
  for (const CallerRow& row : results.rows) {
    result.metrics.push_back({row.name + ".kernel_time", row.milliseconds, "ms"});
    result.metrics.push_back({row.name + ".registers", double(row.use.registers), "registers"});
    result.metrics.push_back(
        {row.name + ".blocks_per_sm", double(row.use.blocks_per_sm), "blocks"});
  }
}

}  // namespace ringpost::workloads
