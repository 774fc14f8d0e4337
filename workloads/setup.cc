#include "workloads/setup.h"

#include <algorithm>

namespace ringpost::workloads {

std::string_view NameOf(config::Publication publication) {
  constexpr std::string_view kNames[] = {"per_thread", "batched",     "ordered_handoff",
                                         "locked",     "cooperative", "last_writer"};
  return kNames[static_cast<size_t>(publication)];
}

std::string_view NameOf(config::Ordering ordering) {
  constexpr std::string_view kNames[] = {"none",        "gpu_fence",   "gpu_fence_dbrec",
                                         "gpu_release", "threadfence", "system_release",
                                         "system_fence"};
  return kNames[static_cast<size_t>(ordering)];
}

Pairing ConnectRanks(Fabric& fabric, const config::Config& config, uint32_t qps, bool shared,
                     Outcome& outcome) {
  QpSpec spec;
  spec.depth_wqebbs = static_cast<uint32_t>(config.transport.sq_depth_wqebbs);
  spec.placement = config.transport.placement;
  spec.batch = static_cast<uint32_t>(config.transport.batch);
  spec.max_inline = static_cast<uint32_t>(config.transport.inline_max_bytes);
  spec.shared = shared;
  spec.kind = config.transport.kind;
  spec.doorbell = config.transport.doorbell;
  Pairing pairing;
  for (uint32_t i = 0; i < qps; ++i) {
    const Result<QpAddress> a = fabric.nic(0).CreateQp(spec);
    const Result<QpAddress> b = fabric.nic(1).CreateQp(spec);
    if (!a.Ok() || !b.Ok()) {
      outcome.Fail(a.Ok() ? b.Message() : a.Message());
      return pairing;
    }
    const Result<bool> there = fabric.nic(0).Connect(a.Value(), b.Value());
    const Result<bool> back = fabric.nic(1).Connect(b.Value(), a.Value());
    if (!there.Ok() || !back.Ok()) {
      outcome.Fail(there.Ok() ? back.Message() : there.Message());
      return pairing;
    }
    pairing.first.push_back(fabric.nic(0).View(a.Value()).Value());
    pairing.second.push_back(fabric.nic(1).View(b.Value()).Value());
  }
  return pairing;
}

RegisteredMemory AllocateOn(Fabric& fabric, uint32_t rank, Placement placement, uint64_t bytes,
                            Outcome& outcome) {
  const Result<RegisteredMemory> memory = fabric.nic(rank).Allocate(placement, bytes);
  if (memory.Ok()) return memory.Value();
  outcome.Fail(memory.Message());
  return {};
}

uint32_t ThreadsPerBlock(const config::Config& config, uint32_t threads) {
  constexpr uint32_t kLargestBlock = 1024;
  const uint32_t sms = static_cast<uint32_t>(config.workload.sms_count);
  return std::min(kLargestBlock, (threads + sms - 1) / sms);
}

bool SendsInline(const config::Config& config) {
  switch (config.workload.inline_mode) {
    case config::InlineMode::kAlways:
      return true;
    case config::InlineMode::kNever:
      return false;
    case config::InlineMode::kAuto:
      break;
  }
  return config.workload.payload_bytes <= config.transport.inline_max_bytes;
}

}  // namespace ringpost::workloads
