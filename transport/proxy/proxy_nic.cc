#include "transport/proxy/proxy_nic.h"

#include <algorithm>

#include "transport/abi/inline_payload.h"
#include "transport/abi/wqe.h"
#include "transport/proxy/descriptor.h"

namespace ringpost::proxy {
namespace {

constexpr uint32_t kLeastSlots = 64;  // several of the longest operation
constexpr uint64_t kLine = 64;        // each word has its own: sides do not meet

// What the worker's queue takes inline: its WQE may have half of the queue.
uint32_t MaxInline(const QpSpec& spec) {
  const uint32_t address = spec.kind == TransportKind::kDc ? 1 : 0;
  const uint32_t segments = spec.depth_wqebbs / 2 * abi::kSegmentsPerWqebb;
  const uint32_t payload = (segments - 2 - address) * abi::kSegmentBytes - sizeof(uint32_t);
  return std::min(spec.max_inline, payload);
}

}  // namespace

ProxyNic::ProxyNic(Nic& nic, const ProxySpec& spec) : nic_(nic), spec_(spec) {
  for (uint32_t i = 0; i < spec.workers; ++i) shares_.emplace_back().batch = spec.batch;
}

Result<uint64_t> ProxyNic::Carve(Placement placement, uint64_t bytes) {
  constexpr uint64_t kPool = 64 << 10;
  bytes = (bytes + kLine - 1) / kLine * kLine;
  Pool& pool = pools_[placement == Placement::kHost ? 1 : 0];
  if (pool.end - pool.next < bytes) {
    const Result<RegisteredMemory> memory = nic_.Allocate(placement, std::max(bytes, kPool));
    if (!memory.Ok()) return Error{memory.Message()};
    pool.next = memory.Value().address;
    pool.end = pool.next + memory.Value().bytes;
  }
  pool.next += bytes;
  return pool.next - bytes;
}

std::string ProxyNic::MakeRing(const QpSpec& spec, QpView& ring) {
  ring.depth = std::max(kLeastSlots, spec.depth_wqebbs);
  ring.max_inline = MaxInline(spec);
  ring.timeout_ps = spec.timeout_ps;
  ring.shared = spec.shared ? 1 : 0;
  ring.kind = spec.kind;
  ring.placement = Placement::kHost;
  return CarveAll({{&ring.sq, Placement::kHost, uint64_t{ring.depth} * kSlotBytes},
                   {&ring.published.address, Placement::kHost, sizeof(uint64_t)},
                   {&ring.completed.address, spec_.counters, sizeof(uint64_t)},
                   {&ring.reserved.address, Placement::kGpu, sizeof(uint64_t)},
                   {&ring.ready.address, Placement::kGpu, sizeof(uint64_t)}});
}

// A queue's words are where its kernels are; those of a worker's queue in host memory.
std::string ProxyNic::MakeWords(QpView& qp) {
  std::vector<Part> parts;
  for (Ref<uint64_t>* word :
       {&qp.reserved, &qp.ready, &qp.published, &qp.completed, &qp.ringing, &qp.blueflame}) {
    parts.push_back({&word->address, Placement::kHost, sizeof(uint64_t)});
  }
  return CarveAll(parts);
}

std::string ProxyNic::CarveAll(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const Result<uint64_t> carved = Carve(part.placement, part.bytes);
    if (!carved.Ok()) return carved.Message();
    *part.address = carved.Value();
  }
  return {};
}

Result<QpAddress> ProxyNic::CreateQp(const QpSpec& spec) {
  QpSpec queue = spec;
  queue.placement = Placement::kHost;
  queue.batch = 1;
  queue.shared = false;
  queue.doorbell = spec_.doorbell;
  queue.indices = IndexHome::kEndpoint;
  if (spec.doorbell != DoorbellMode::kGpu && spec.doorbell != DoorbellMode::kAuto) {
    return Error{"the worker of a proxy rings: a ring has no doorbell mode of its own; use gpu"};
  }
  const Result<QpAddress> made = nic_.CreateQp(queue);
  if (!made.Ok()) return made;
  const uint32_t worker = static_cast<uint32_t>(places_.size() % shares_.size());
  Share& share = shares_[worker];
  ServedRing ring;
  const std::string refusal = MakeRing(spec, ring.view);
  if (!refusal.empty()) return Error{refusal};
  ring.view.qpn = made.Value().qpn;
  ring.lane = static_cast<uint32_t>(share.lanes.size());
  share.lanes.emplace_back();
  places_.push_back({made.Value().qpn, worker, static_cast<uint32_t>(share.rings.size())});
  share.rings.push_back(ring);
  return made;
}

const ProxyNic::Place* ProxyNic::Find(const QpAddress& local) const {
  const auto place = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& one) { return one.qpn == local.qpn; });
  return place == places_.end() ? nullptr : &*place;
}

Result<bool> ProxyNic::Connect(const QpAddress& local, const QpAddress& peer) {
  const Place* place = Find(local);
  if (place == nullptr) return Error{"the queue pair is not one of this proxy"};
  Result<bool> connected = nic_.Connect(local, peer);
  if (!connected.Ok()) return connected;
  const Result<QpView> view = nic_.View(local);
  if (!view.Ok()) return Error{view.Message()};
  Share& share = shares_[place->worker];
  ServedRing& ring = share.rings[place->ring];
  QpView& queue = share.lanes[ring.lane].qp;
  const bool is_new = queue.depth == 0;
  const QpView words = queue;
  queue = view.Value();
  ring.view.max_message = queue.max_message;
  if (is_new) {
    const std::string refusal = MakeWords(queue);
    if (!refusal.empty()) return Error{refusal};
    return connected;
  }
  // Connected again: it goes on where it was.
  queue.reserved = words.reserved;
  queue.ready = words.ready;
  queue.published = words.published;
  queue.completed = words.completed;
  queue.ringing = words.ringing;
  queue.blueflame = words.blueflame;
  return connected;
}

Result<QpView> ProxyNic::View(const QpAddress& local) const {
  const Place* place = Find(local);
  if (place == nullptr) return Error{"the queue pair is not one of this proxy"};
  return shares_[place->worker].rings[place->ring].view;
}

}  // namespace ringpost::proxy
