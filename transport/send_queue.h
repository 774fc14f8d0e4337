// send_queue.h: reserving slots of the send ring, in the forms that publication policies need.
//
// A reservation is [index, index + count) in WQEBBs. It never exceeds the ring: reserving waits
// for completions, and a count above half the depth is refused, since a WQE that spans blocks is
// known by its first one alone.
#pragma once

#include "transport/completion_queue.h"
#include "transport/ring.h"

namespace ringpost {

struct Reservation {
  uint64_t index = 0;
  uint32_t count = 0;
  Completion status;
};

// What one post needs: `count` WQEBBs, the last WQE of which starts at `last`.
struct Extent {
  uint32_t count = 1;
  uint32_t last = 0;
};

// What one post left behind. Wait for `confirmed` (WaitCompleted) to know that it is done.
struct Posted {
  uint64_t confirmed = 0;
  Completion status;
};

// All lanes of the warp call it: what lane 0 has brought, for each of them.
template <class P>
HOST_DEVICE Completion OfLeader(P& port, const QpView& qp, const Completion& mine) {
  const uint64_t word =
      port.Shuffle(static_cast<uint64_t>(mine.status) | uint64_t{mine.syndrome} << 8 |
                       uint64_t{mine.vendor_syndrome} << 16 | mine.wqe_index << 24,
                   0);
  return {static_cast<Status>(word & 0xff), static_cast<uint8_t>(word >> 8),
          static_cast<uint8_t>(word >> 16), qp.qpn, word >> 24};
}

HOST_DEVICE bool FitsRing(const QpView& qp, uint32_t count) {
  return count != 0 && 2 * count <= qp.depth;
}

// Waits until [index, index + count) lies within `depth` of what has completed. Slots before
// `index` must be published, or be published by threads that do not wait for this one.
template <class Ordering, class P>
HOST_DEVICE Completion WaitForSpace(P& port, const QpView& qp, uint64_t index, uint32_t count) {
  if (index + count <= qp.depth) return {};
  const uint64_t needed = index + count - qp.depth;
  if (LoadIndex(port, qp, qp.completed) >= needed) return {};
  return WaitCompleted<Ordering>(port, qp, needed);
}

// The caller alone uses the QP: plain accesses.
template <class Ordering, class P>
HOST_DEVICE Reservation ReserveOwned(P& port, const QpView& qp, uint32_t count) {
  if (!FitsRing(qp, count)) return {0, 0, {Status::kInvalidArgument, 0, 0, qp.qpn, 0}};
  const uint64_t index = port.template Load<Order::kRelaxed, Scope::kThread>(qp.reserved);
  const Completion space = WaitForSpace<Ordering>(port, qp, index, count);
  if (!space.Ok()) return {0, 0, space};
  port.template Store<Order::kRelaxed, Scope::kThread>(qp.reserved, index + count);
  return {index, count, {}};
}

// Waits until all slots before `index` are ready, so that this thread holds the turn.
template <class P>
HOST_DEVICE bool WaitTurn(P& port, const QpView& qp, uint64_t index) {
  const uint64_t deadline = DeadlineOf(port.Now(), qp.timeout_ps);
  while (port.template Load<Order::kRelaxed, Scope::kGpu>(qp.ready) != index) {
    port.Expect(qp.ready, index);
    if (!port.Relax(deadline)) return false;
  }
  return true;
}

// Many threads use the QP: slots are given out in the order of the atomic.
template <class Ordering, class P>
HOST_DEVICE Reservation ReserveShared(P& port, const QpView& qp, uint32_t count) {
  if (!FitsRing(qp, count)) return {0, 0, {Status::kInvalidArgument, 0, 0, qp.qpn, 0}};
  const uint64_t index = port.template FetchAdd<Order::kRelaxed, Scope::kGpu>(qp.reserved, count);
  const Completion space = WaitForSpace<Ordering>(port, qp, index, count);
  // A QP in error goes nowhere, but other threads wait for their turn behind this slot.
  if (space.status == Status::kErrorCompletion && WaitTurn(port, qp, index)) {
    Ordering::MarkReady(port, qp, index, index + count);
  }
  return {index, count, space};
}

// Rings for everything before `producer`; the last signalled WQE in there starts at
// `confirmed` - 1. Callers order the WQE bytes first (Release or TakeTurn); on a shared QP they
// hold the turn.
template <class Ordering, class P>
HOST_DEVICE void PublishTo(P& port, const QpView& qp, uint64_t producer, uint64_t confirmed) {
  if (qp.shared == 0) {
    port.template Store<Order::kRelaxed, Scope::kThread>(qp.published, confirmed);
  } else {
    port.template Store<Order::kRelaxed, Scope::kGpu>(qp.published, confirmed);
  }
  Ring<Ordering>(port, qp, producer, confirmed - 1);
}

}  // namespace ringpost
