#include "workloads/setup.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace ringpost::workloads {

namespace {

// Ranks of one run are the same program, so that objects travel as they are.
template <class T>
std::string BytesOf(const T* objects, size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::string(reinterpret_cast<const char*>(objects), count * sizeof(T));
}

template <class T>
std::vector<T> ObjectsIn(const std::string& bytes) {
  std::vector<T> objects(bytes.size() / sizeof(T));
  if (!objects.empty()) std::memcpy(objects.data(), bytes.data(), objects.size() * sizeof(T));
  return objects;
}

void GiveUp(Machine& machine, const std::string& reason, Outcome& outcome) {
  machine.Abort(reason);
  outcome.Fail(reason);
}

// QPs at each rank that is here, then everybody's addresses, then connections.
Result<Pairing> Pair(Machine& machine, const QpSpec& spec, uint32_t qps) {
  std::vector<std::vector<QpAddress>> addresses(machine.Ranks());
  for (uint32_t i = 0; i < qps; ++i) {
    for (uint32_t rank = 0; rank < 2; ++rank) {
      if (!machine.Owns(rank)) continue;
      const Result<QpAddress> made = machine.nic(rank).CreateQp(spec);
      if (!made.Ok()) return Error{made.Message()};
      addresses[rank].push_back(made.Value());
    }
  }
  std::vector<std::string> mine;
  for (const auto& some : addresses) mine.push_back(BytesOf(some.data(), some.size()));
  const auto parts = machine.Exchange(std::move(mine), "QP addresses");
  if (!parts.Ok()) return Error{parts.Message()};
  for (uint32_t rank = 0; rank < 2; ++rank) {
    addresses[rank] = ObjectsIn<QpAddress>(parts.Value()[rank]);
    if (addresses[rank].size() != qps) return Error{"ranks differ in how many QPs they have"};
  }
  Pairing pairing;
  for (uint32_t i = 0; i < qps; ++i) {
    for (uint32_t rank = 0; rank < 2; ++rank) {
      if (!machine.Owns(rank)) continue;
      Nic& nic = machine.nic(rank);
      const Result<bool> connected = nic.Connect(addresses[rank][i], addresses[1 - rank][i]);
      if (!connected.Ok()) return Error{connected.Message()};
      (rank == 0 ? pairing.first : pairing.second).push_back(nic.View(addresses[rank][i]).Value());
    }
  }
  // No rank posts before its peer's QPs can receive.
  const auto met = machine.Exchange(std::vector<std::string>(machine.Ranks()), "connected QPs");
  if (!met.Ok()) return Error{met.Message()};
  return pairing;
}

}  // namespace

QpSpec SpecOf(const config::Config& config) {
  QpSpec spec;
  spec.depth_wqebbs = static_cast<uint32_t>(config.transport.sq_depth_wqebbs);
  spec.placement = config.transport.placement;
  spec.batch = static_cast<uint32_t>(config.transport.batch);
  spec.max_inline = static_cast<uint32_t>(config.transport.inline_max_bytes);
  spec.kind = config.transport.kind;
  spec.doorbell = config.transport.doorbell;
  spec.indices = config.transport.indices;
  return spec;
}

Pairing ConnectRanks(Machine& machine, const config::Config& config, uint32_t qps, bool shared,
                     Outcome& outcome) {
  QpSpec spec = SpecOf(config);
  spec.shared = shared;
  spec.timeout_ps = machine.TimeoutPs();
  const Result<Pairing> pairing = Pair(machine, spec, qps);
  if (pairing.Ok()) return pairing.Value();
  GiveUp(machine, pairing.Message(), outcome);
  return {};
}

RegisteredMemory AllocateOn(Machine& machine, uint32_t rank, const config::Config& config,
                            uint64_t bytes, Outcome& outcome) {
  std::vector<std::string> mine(machine.Ranks());
  if (machine.Owns(rank)) {
    const Result<RegisteredMemory> memory =
        machine.nic(rank).Allocate(config.workload.placement, bytes);
    if (!memory.Ok()) {
      GiveUp(machine, memory.Message(), outcome);
      return {};
    }
    mine[rank] = BytesOf(&memory.Value(), 1);
  }
  const auto parts = machine.Exchange(std::move(mine), "registered memory");
  const auto memory = parts.Ok() ? ObjectsIn<RegisteredMemory>(parts.Value()[rank])
                                 : std::vector<RegisteredMemory>();
  if (memory.size() == 1) return memory[0];
  GiveUp(machine, parts.Ok() ? "a rank did not say where its memory is" : parts.Message(), outcome);
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
