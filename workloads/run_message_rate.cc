#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "workloads/gpu_launch.h"
#include "workloads/kinds.h"
#include "workloads/launch.h"
#include "workloads/message_rate.h"

namespace ringpost::workloads {
namespace {

struct Kernel {
  const std::vector<MessageRateArguments>* arguments;
  std::vector<ThreadRate>* rates;
  Outcome* outcome;
  template <class Publication, class Ordering, class P>
  void operator()(P& port, uint32_t thread) {
    MessageRateKernel<P, Publication, Ordering>(port, (*arguments)[thread], (*rates)[thread],
                                                *outcome);
  }
  std::unique_ptr<GpuLaunch> OnGpu(Gpu& gpu, const GpuGrid& grid) const {
    return LaunchMessageRate(gpu, grid, *arguments, rates, outcome);
  }
};

struct Layout {
  uint32_t threads = 0;
  uint32_t threads_per_qp = 0;
  uint32_t qps = 0;
  uint32_t slots = 0;
  uint32_t stride = 0;
  bool sends_inline = false;
};

Layout LayoutOf(const config::Config& config) {
  Layout layout;
  layout.threads = static_cast<uint32_t>(config.workload.threads);
  layout.threads_per_qp = static_cast<uint32_t>(config.workload.threads_per_qp);
  layout.qps = (layout.threads + layout.threads_per_qp - 1) / layout.threads_per_qp;
  layout.sends_inline = SendsInline(config);
  layout.stride = static_cast<uint32_t>(config::SlotBytes(config));
  layout.slots = static_cast<uint32_t>(config::SlotsOfThread(config));
  return layout;
}

// A cooperative QP is shared when more than one warp uses it; a small block makes small warps.
bool Shares(const Machine& machine, const config::Config& config, const Layout& layout) {
  if (config.transport.publication != config::Publication::kCooperative) {
    return layout.threads_per_qp > 1;
  }
  return layout.threads_per_qp > machine.WarpLanes(ThreadsPerBlock(config, layout.threads));
}

// Every slot must hold the word of the last message that went there.
void CheckPayload(Machine& machine, const std::vector<MessageRateArguments>& threads,
                  Outcome& outcome) {
  uint64_t wrong = 0;
  std::vector<uint8_t> slots;
  for (const MessageRateArguments& a : threads) {
    const uint64_t total = a.warm_up + a.operations;
    slots.resize(uint64_t{a.slots} * a.stride);
    machine.Peek(a.target.address, slots.data(), slots.size());
    for (uint64_t slot = 0; slot < a.slots && slot < total; ++slot) {
      const uint64_t last = total - 1 - (total - 1 - slot) % a.slots;
      const uint64_t expected = PayloadWord(a.thread, a.source.address == 0 ? last : 0);
      uint64_t found = 0;
      std::memcpy(&found, slots.data() + slot * a.stride, sizeof(found));
      if (found != expected) ++wrong;
    }
  }
  if (wrong > 0) outcome.Fail(fmt::format("{} payload words at the target are wrong", wrong));
}

std::vector<MessageRateArguments> ArgumentsOf(const config::Config& config, const Layout& layout,
                                              const std::vector<QpTable>& tables,
                                              const RegisteredMemory& target,
                                              const RegisteredMemory& source) {
  std::vector<MessageRateArguments> arguments(layout.threads);
  for (uint32_t thread = 0; thread < layout.threads; ++thread) {
    MessageRateArguments& a = arguments[thread];
    a.qps = tables[thread / layout.threads_per_qp];
    a.stride = layout.stride;
    a.slots = layout.slots;
    a.target = target.Remote(uint64_t{thread} * layout.slots * layout.stride);
    if (!layout.sends_inline) a.source = source.Local(uint64_t{thread} * layout.stride, a.stride);
    a.bytes = static_cast<uint32_t>(config.workload.payload_bytes);
    a.thread = thread;
    a.warm_up = (config.workload.warm_up + layout.threads - 1) / layout.threads;
    a.operations = std::max<uint64_t>(1, config.workload.operations / layout.threads);
    a.drains = a.warm_up > 0 && (config.workload.kind == config::WorkloadKind::kGoodput ||
                                 config.transport.path == config::TransportPath::kProxy);
  }
  return arguments;
}

void AddRate(const std::vector<MessageRateArguments>& arguments,
             const std::vector<ThreadRate>& rates, const config::Config& config, uint32_t qps,
             RunResult& result) {
  double per_second = 0;
  for (size_t i = 0; i < rates.size(); ++i) {
    per_second += static_cast<double>(arguments[i].operations) * 1e12 /
                  static_cast<double>(std::max<uint64_t>(1, rates[i].end - rates[i].start));
  }
  result.metrics.push_back({"message_rate", per_second / 1e6, "M msg/s"});
  result.metrics.push_back({"message_rate_per_qp", per_second / 1e6 / qps, "M msg/s"});
  if (config.workload.kind != config::WorkloadKind::kGoodput) return;
  const double bytes = static_cast<double>(config.workload.payload_bytes);
  result.metrics.push_back({"goodput", per_second * bytes / 1e9, "GB/s"});
}

}  // namespace

void RunMessageRate(Machine& machine, const config::Config& config, RunResult& result,
                    Outcome& outcome) {
  const Layout layout = LayoutOf(config);
  const Pairing pairing =
      ConnectRanks(machine, config, layout.qps, Shares(machine, config, layout), outcome);
  const RegisteredMemory source =
      AllocateOn(machine, 0, config, uint64_t{layout.threads} * layout.stride, outcome);
  const RegisteredMemory target = AllocateOn(
      machine, 1, config, uint64_t{layout.threads} * layout.slots * layout.stride, outcome);
  if (!outcome.ok) return;
  for (uint64_t thread = 0; thread < layout.threads && machine.Owns(0); ++thread) {
    const uint64_t word = PayloadWord(thread, 0);
    machine.Poke(source.address + thread * layout.stride, &word, sizeof(word));
  }
  std::vector<QpTable> tables;
  for (uint32_t qp = 0; qp < layout.qps; ++qp) tables.push_back(TableFor(pairing.first, qp));
  const std::vector<MessageRateArguments> arguments =
      ArgumentsOf(config, layout, tables, target, source);
  std::vector<ThreadRate> rates(layout.threads);
  if (!LaunchOn(machine, 0, config, layout.threads, Kernel{&arguments, &rates, &outcome})) {
    outcome.Fail("this pair of publication and ordering is not built");
    return;
  }
  const std::string wrong = machine.Run();
  if (!wrong.empty()) outcome.Fail(wrong);
  if (!outcome.ok) return;
  if (machine.Owns(1) && config.workload.payload_bytes >= sizeof(uint64_t)) {
    CheckPayload(machine, arguments, outcome);
  }
  if (machine.Owns(0)) AddRate(arguments, rates, config, layout.qps, result);
}

}  // namespace ringpost::workloads
