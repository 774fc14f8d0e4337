// send_queue.h: reserving slots of the send ring, in the forms that publication policies need.
//
// A reservation is [index, index + count) in WQEBBs. It never exceeds the ring: reserving waits
// for completions, and a count above half the depth is refused, since a WQE that spans blocks is
// known by its first one alone.
#pragma once

#include "transport/completion_queue.h"
#include "transport/ring.h"

namespace ringpost {

// What one post needs: `count` WQEBBs, the last WQE of which starts at `last`; of a QP that one
// thread has, room for `inline_bytes` in a WQE. What shares QPs is asked before it comes to a post.
struct Extent {
  uint32_t count = 1;
  uint32_t last = 0;
  uint32_t inline_bytes = 0;
};

// What one post left behind. Wait for `confirmed` (WaitCompleted) to know that it is done.
struct Posted {
  uint64_t confirmed = 0;
  Completion status;
};

// The same of a post that looked at more than it usually does, and the indices after it.
struct Checked {
  Posted posted;
  Indices own;
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

// One always does: a ring has eight or more.
HOST_DEVICE bool FitsRing(const QpView& qp, uint32_t count) {
  return count == 1 || (count != 0 && 2 * count <= qp.depth);
}

// Waits until slots before `end` may be used. Those before the caller's must be published, or be
// published by threads that do not wait for this one. No acquire: the NIC has read a slot before it
// wrote the CQE, and the store that uses the slot again depends on the load that has seen that CQE,
// or the `completed` of a thread that did.
template <class Ordering, class P>
HOST_DEVICE Completion WaitForSpace(P& port, const QpView& qp, Indices& own, uint64_t end) {
  if (end <= own.room) return {};
  if (own.room < qp.depth) own.room = qp.depth;  // as much as an empty ring has
  if (end <= own.room) return {};
  const uint64_t completed = LoadIndex(port, qp, qp.completed);
  if (completed + qp.depth > own.room) own.room = completed + qp.depth;
  if (end <= own.room) return {};
  return PollUntil<Ordering>(port, qp, own, own.room - qp.depth, end - qp.depth);
}

// How many slots of the room that is known may be taken unchecked, of which at most `most`.
HOST_DEVICE uint32_t Unchecked(const QpView& qp, const Indices& own, uint64_t most) {
  const uint64_t room = own.room - own.reserved;
  // What is more than half a ring is refused.
  if (most > qp.depth / 2) most = qp.depth / 2;
  return IsPlain(qp) ? static_cast<uint32_t>(room < most ? room : most) : 0;
}

// After a post that was checked. At most `most` of the slots that follow may be taken unchecked.
template <class Publication, class P>
HOST_DEVICE void EndPost(P& port, const QpView& qp, Indices& own, uint64_t most) {
  if (qp.indices == IndexHome::kMemory) {
    GiveIndicesBack<Publication>(port, qp, own);
  } else {
    own.unchecked = Unchecked(qp, own, most);
    own.rings = own.unchecked == most;
  }
}

// Waits until the caller, which alone uses the QP, may take so many slots. kInvalidArgument also if
// another Endpoint holds the indices.
template <class Publication, class Ordering, class P>
HOST_DEVICE Completion MakeRoom(P& port, const QpView& qp, Indices& own, Extent extent) {
  const bool fits = FitsRing(qp, extent.count) && extent.inline_bytes <= qp.max_inline;
  if (!fits || !TakeIndices<Publication>(port, qp, own)) {
    return {Status::kInvalidArgument, 0, 0, qp.qpn, 0};
  }
  const Completion space = WaitForSpace<Ordering>(port, qp, own, own.reserved + extent.count);
  if (!space.Ok()) EndPost<Publication>(port, qp, own, 0);
  return space;
}

// The first of the next `count` slots, for which there is room.
HOST_DEVICE uint64_t ReserveOwned(Indices& own, uint32_t count) {
  const uint64_t index = own.reserved;
  own.reserved += count;
  return index;
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

struct Reservation {
  uint64_t index = 0;
  Completion status;
};

// Many threads use the QP: slots are given out in the order of the atomic.
template <class Ordering, class P>
HOST_DEVICE Reservation ReserveShared(P& port, const QpView& qp, Indices& own, uint32_t count) {
  if (!FitsRing(qp, count)) return {0, {Status::kInvalidArgument, 0, 0, qp.qpn, 0}};
  const uint64_t index = port.template FetchAdd<Order::kRelaxed, Scope::kGpu>(qp.reserved, count);
  const Completion space = WaitForSpace<Ordering>(port, qp, own, index + count);
  // A QP in error goes nowhere, but other threads wait for their turn behind this slot.
  if (space.status == Status::kErrorCompletion && WaitTurn(port, qp, index)) {
    Ordering::MarkReady(port, qp, index, index + count);
  }
  return {index, space};
}

// Whether a batch ends in [from, to). A batch is not above a quarter of the ring: who waits for
// space relies on a ring behind each.
HOST_DEVICE bool EndsBatch(const QpView& qp, uint64_t from, uint64_t to) {
  const uint64_t batch = qp.batch < qp.depth / 4 ? qp.batch : qp.depth / 4;
  // A division of 64 bits takes a GPU about a hundred instructions.
  if ((batch & (batch - 1)) == 0) return (from ^ to) >= batch;
  return from / batch != to / batch;
}

// For Quiet through another Endpoint of the thread, which sees it as any store of its own.
template <class P>
HOST_DEVICE void NotePublished(P& port, const QpView& qp, Indices& own, uint64_t confirmed) {
  own.published = confirmed;
  port.template Store<Order::kRelaxed, Scope::kThread>(qp.published, confirmed);
}

// Rings for everything before `producer`; the last signalled WQE in there starts at
// `confirmed` - 1. Callers order the WQE bytes first (Release). The word is stored last: where a
// release stands before the record or the doorbell, it would wait for that store too.
template <class Ordering, class P>
HOST_DEVICE void PublishOwned(P& port, const QpView& qp, Indices& own, uint64_t producer,
                              uint64_t confirmed) {
  Ring<Ordering>(port, qp, producer, confirmed - 1);
  NotePublished(port, qp, own, confirmed);
}

// The same on a shared QP: callers hold the turn (TakeTurn).
template <class Ordering, class P>
HOST_DEVICE void PublishShared(P& port, const QpView& qp, uint64_t producer, uint64_t confirmed) {
  port.template Store<Order::kRelaxed, Scope::kGpu>(qp.published, confirmed);
  Ring<Ordering>(port, qp, producer, confirmed - 1);
}

}  // namespace ringpost
