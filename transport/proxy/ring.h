// ring.h: the words that producers and the worker of a proxy share: a ring of slots, and how far
// each side has come.
//
// A ring is described to its producers by a QpView, as a queue pair is, so that a kernel takes
// either:
//   sq, depth    the slots, in host memory; `depth` counts them
//   reserved     index of the next free slot; in GPU memory. One producer: as indices.h has it
//   ready        the same for who may not look there, of a ring of one producer
//   published    in host memory: slots before it were read by the worker and may be used again
//   completed    in host or GPU memory: operations before it are complete, or a failure
//   timeout_ps, qpn, max_inline, max_message, shared   as of a queue pair: the worker's
// Indices have 64 bits and count slots. It has no doorbell, no record and no CQ.
#pragma once

#include <cstdint>

#include "transport/port.h"
#include "transport/proxy/descriptor.h"
#include "transport/status.h"

namespace ringpost::proxy {

// `completed` once an operation has failed: the highest bit, the status, what its CQE says, and the
// low bits of the index before which all operations are complete. It never changes again.
inline constexpr uint64_t kFailed = 1ull << 63;
inline constexpr uint64_t kFailedIndex = (1ull << 40) - 1;

HOST_DEVICE constexpr uint64_t FailureWord(const Completion& why, uint64_t completed) {
  return kFailed | static_cast<uint64_t>(why.status) << 56 | uint64_t{why.syndrome} << 48 |
         uint64_t{why.vendor_syndrome} << 40 | (completed & kFailedIndex);
}

// `near` is an index at most 2^39 away.
HOST_DEVICE constexpr Completion FailureIn(uint64_t word, uint32_t qpn, uint64_t near) {
  const uint64_t back = (near - word) & kFailedIndex;
  const bool ahead = back > kFailedIndex / 2;
  const uint64_t index = ahead ? near + (kFailedIndex + 1 - back) : near - back;
  return {static_cast<Status>((word >> 56) & 0x7f), static_cast<uint8_t>(word >> 48),
          static_cast<uint8_t>(word >> 40), qpn, index};
}

HOST_DEVICE constexpr uint64_t SlotAddress(const QpView& ring, uint64_t index) {
  return ring.sq + (index & (ring.depth - 1)) * kSlotBytes;
}

// Relaxed: the slot tells of itself alone. Release: it also orders what the thread has stored
// before, the payload; the worker relies on it, which passes it on to the NIC.
template <Order O, class P>
HOST_DEVICE void StoreSlot(P& port, const QpView& ring, uint64_t index, const Slot& slot) {
  const uint64_t phase = PhaseAt(index, ring.depth);
  port.template StorePair<O, Scope::kSystem>(SlotAddress(ring, index), slot.low | phase,
                                             slot.high | phase);
}

// The worker's part: false while the slot is not there, in whole. Relaxed: the worker's fence
// before its doorbell takes over what a release has ordered before the slot, for the NIC
// (chained.h).
template <class P>
bool LoadSlot(P& port, const QpView& ring, uint64_t index, Slot* slot) {
  const uint64_t phase = PhaseAt(index, ring.depth);
  const Ref<uint64_t> low{SlotAddress(ring, index)};
  slot->low = port.template Load<Order::kRelaxed, Scope::kSystem>(low);
  if ((slot->low & kPhase) != phase) return false;
  const Ref<uint64_t> high{low.address + sizeof(slot->low)};
  slot->high = port.template Load<Order::kRelaxed, Scope::kSystem>(high);
  if ((slot->high & kPhase) != phase) return false;
  slot->low &= ~kPhase;
  slot->high &= ~kPhase;
  return true;
}

}  // namespace ringpost::proxy
