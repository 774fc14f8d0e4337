// completion_queue.h: what a poller learns from the collapsed CQ of one QP.
//
// The NIC rewrites slot 0 with each CQE; its 16-bit counter names the first WQEBB of the completed
// WQE. Every function may be called by any thread that shares the QP. An advance is accepted only
// if it lies inside (completed, published]: a stale entry therefore never moves `completed` back
// or a lap ahead.
#pragma once

#include "transport/abi/cqe.h"
#include "transport/indices.h"
#include "transport/port.h"
#include "transport/status.h"

namespace ringpost {

// The error CQE now in slot 0. Call after an acquire.
template <class P>
HOST_DEVICE Completion ErrorCompletion(P& port, const QpView& qp, uint64_t wqe_index) {
  const uint64_t word = port.LoadCqeError(qp.cq, 0);
  return {Status::kErrorCompletion, static_cast<uint8_t>(word >> 56),
          static_cast<uint8_t>(word >> 48), qp.qpn, wqe_index};
}

// One poll for `target`. `known` is a value that `completed` has had. kOk with `*seen` at `target`
// or beyond: how far the CQE in slot 0 goes; with 0: not yet. kErrorCompletion when slot 0 holds
// one.
template <class Ordering, class P>
HOST_DEVICE Completion PollOnce(P& port, const QpView& qp, const Indices& own, uint64_t known,
                                uint64_t target, uint64_t* seen) {
  *seen = 0;
  port.Enter(Step::kPoll, {qp.sink});
  const uint64_t tail = port.LoadCqeTail(qp.cq, 0);
  const abi::CqeOpcode opcode = abi::TailOpcode(tail);
  if (opcode == abi::CqeOpcode::kInvalid) return {};
  const uint64_t counter = abi::TailCounter(tail);
  if (opcode == abi::CqeOpcode::kRequesterError) {
    Ordering::Acquire(port, qp);
    return ErrorCompletion(port, qp, known + ((counter - known) & P::Masks::kCounter));
  }
  const uint64_t reached = known + ((counter + 1 - known) & P::Masks::kCounter);
  // What lies beyond `published` is a stale entry, a lap behind.
  if (reached >= target && reached <= PublishedOf(port, qp, own)) *seen = reached;
  return {};
}

HOST_DEVICE uint64_t DeadlineOf(uint64_t now, uint64_t timeout) {
  return timeout == 0 ? ~0ull : now + timeout;
}

// Waits until this thread has seen a CQE that reaches `target`, and raises `completed` so far,
// once, for the next who waits. Orders nothing: see WaitForSpace and WaitCompleted.
template <class Ordering, class P>
HOST_DEVICE Completion PollUntil(P& port, const QpView& qp, Indices& own, uint64_t known,
                                 uint64_t target) {
  const uint64_t deadline = DeadlineOf(port.Now(), qp.timeout_ps);
  for (;;) {
    uint64_t seen = 0;
    const Completion polled = PollOnce<Ordering>(port, qp, own, known, target, &seen);
    if (!polled.Ok()) return polled;
    if (seen != 0) {
      RaiseIndex(port, qp, qp.completed, seen);
      if (seen + qp.depth > own.room) own.room = seen + qp.depth;
      return {Status::kOk, 0, 0, qp.qpn, target - 1};
    }
    port.ExpectCqe(qp.cq, 0, known, target);
    if (!port.Relax(deadline)) return {Status::kTimeout, 0, 0, qp.qpn, known};
  }
}

// Waits until this thread has seen a CQE that reaches `target`, i.e. the WQE that starts at
// target - 1 is done, then orders that before what the caller reads next. That another thread has
// raised `completed` so far would not do: the word is relaxed and passes nothing on.
template <class Ordering, class P>
HOST_DEVICE Completion WaitCompleted(P& port, const QpView& qp, Indices& own, uint64_t target) {
  if (target == 0) return {Status::kOk, 0, 0, qp.qpn, 0};  // nothing was ever posted
  const Completion done = PollUntil<Ordering>(port, qp, own, KnownCompleted(port, qp, own), target);
  if (done.Ok()) {
    port.Enter(Step::kArrived, {qp.sink});
    Ordering::Acquire(port, qp);
  }
  return done;
}

}  // namespace ringpost
