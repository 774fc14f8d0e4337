// completion_queue.h: what a poller learns from the collapsed CQ of one QP.
//
// The NIC rewrites slot 0 with each CQE; its 16-bit counter names the first WQEBB of the completed
// WQE. Every function may be called by any thread that shares the QP. An advance is accepted only
// if it lies inside (completed, published]: a stale entry therefore never moves `completed` back
// or a lap ahead.
#pragma once

#include "transport/abi/cqe.h"
#include "transport/port.h"
#include "transport/status.h"

namespace ringpost {

// Reads `completed` or another index word: plainly where one thread owns the QP.
template <class P>
HOST_DEVICE uint64_t LoadIndex(P& port, const QpView& qp, Ref<uint64_t> word) {
  if (qp.shared == 0) return port.template Load<Order::kRelaxed, Scope::kThread>(word);
  return port.template Load<Order::kRelaxed, Scope::kGpu>(word);
}

template <class P>
HOST_DEVICE void RaiseIndex(P& port, const QpView& qp, Ref<uint64_t> word, uint64_t value) {
  if (qp.shared == 0) {
    port.template Store<Order::kRelaxed, Scope::kThread>(word, value);
  } else {
    port.template RaiseTo<Order::kRelaxed, Scope::kGpu>(word, value);
  }
}

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
HOST_DEVICE Completion PollOnce(P& port, const QpView& qp, uint64_t known, uint64_t target,
                                uint64_t* seen) {
  *seen = 0;
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
  if (reached >= target && reached <= LoadIndex(port, qp, qp.published)) *seen = reached;
  return {};
}

HOST_DEVICE uint64_t DeadlineOf(uint64_t now, uint64_t timeout) {
  return timeout == 0 ? ~0ull : now + timeout;
}

// Waits until this thread has seen a CQE that reaches `target`, i.e. the WQE that starts at
// target - 1 is done, then orders that before what the caller reads next. That another thread has
// raised `completed` so far would not do: the word is relaxed and passes nothing on. It is raised
// once, for the next who waits.
template <class Ordering, class P>
HOST_DEVICE Completion WaitCompleted(P& port, const QpView& qp, uint64_t target) {
  if (target == 0) return {Status::kOk, 0, 0, qp.qpn, 0};  // nothing was ever posted
  const uint64_t deadline = DeadlineOf(port.Now(), qp.timeout_ps);
  const uint64_t known = LoadIndex(port, qp, qp.completed);
  for (;;) {
    uint64_t seen = 0;
    const Completion polled = PollOnce<Ordering>(port, qp, known, target, &seen);
    if (!polled.Ok()) return polled;
    if (seen != 0) {
      RaiseIndex(port, qp, qp.completed, seen);
      Ordering::Acquire(port, qp);
      return {Status::kOk, 0, 0, qp.qpn, target - 1};
    }
    port.ExpectCqe(qp.cq, 0, known, target);
    if (!port.Relax(deadline)) return {Status::kTimeout, 0, 0, qp.qpn, known};
  }
}

}  // namespace ringpost
