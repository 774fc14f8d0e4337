// memory_ring.h: a proxy's ring in memory of this process, without a NIC: for tests of one side
// against threads that play the other.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "transport/endpoint.h"
#include "transport/host_port.h"
#include "transport/host_warp.h"
#include "transport/proxy/ring.h"

namespace ringpost::proxy {

class MemoryRing {
 public:
  // All indices begin at `start`, as if that much had gone through.
  explicit MemoryRing(uint32_t depth, uint64_t start = 0, uint64_t timeout_ps = 0)
      : slots_(depth + 1) {
    view.sq =
        (reinterpret_cast<uint64_t>(slots_.data()) + kSlotBytes - 1) / kSlotBytes * kSlotBytes;
    view.depth = depth;
    view.max_inline = 220;
    view.timeout_ps = timeout_ps;
    view.qpn = 7;
    uint64_t i = 0;
    for (Ref<uint64_t>* word : {&view.reserved, &view.ready, &view.published, &view.completed}) {
      words_[i] = start;
      *word = {reinterpret_cast<uint64_t>(&words_[i++])};
    }
    // What the lap before has left.
    for (uint64_t index = start - (start == 0 ? 0 : depth); index != start; ++index) {
      const uint64_t phase = PhaseAt(index, depth);
      Slot* slot = reinterpret_cast<Slot*>(SlotAddress(view, index));
      *slot = {phase | 1, phase | 1};
    }
  }
  MemoryRing(const MemoryRing&) = delete;

  QpTable Table() const { return {&view, 1, 0, 1, 0}; }

  // The worker's part: the next operation, once it is there, and room for another.
  Request Take(HostPort& port, uint64_t* next, unsigned char* payload) {
    Slot slot;
    for (;;) {
      while (!LoadSlot(port, view, *next, &slot)) port.Relax(~0ull);
      if (FormOf(slot.low) != Form::kKeys) break;
      rkey_ = static_cast<uint32_t>(slot.low);
      lkey_ = static_cast<uint32_t>(slot.high);
      ++*next;
    }
    Head head = ReadHead(slot, rkey_, lkey_);
    for (uint32_t i = 1; i < head.slots; ++i) {
      while (!LoadSlot(port, view, *next + i, &slot)) port.Relax(~0ull);
      ReadTail(head.request, slot, i, payload);
    }
    if (head.slots == 1) std::memcpy(payload, &head.request.a, sizeof(head.request.a));
    *next += head.slots;
    port.Store<Order::kRelease, Scope::kSystem>(view.published, *next);
    return head.request;
  }

  QpView view;

 private:
  std::vector<Slot> slots_;
  alignas(64) uint64_t words_[4];
  uint32_t rkey_ = 0;
  uint32_t lkey_ = 0;
};

}  // namespace ringpost::proxy
