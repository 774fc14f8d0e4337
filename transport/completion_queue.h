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
  const uint64_t word = port.LoadCqeError(qp, 0);
  return {Status::kErrorCompletion, static_cast<uint8_t>(word >> 56),
          static_cast<uint8_t>(word >> 48), qp.qpn, wqe_index};
}

// One poll. Raises `*completed`, which must be a value that `completed` has had, as far as the CQE
// in slot 0 allows. kErrorCompletion when slot 0 holds an error.
template <class Ordering, class P>
HOST_DEVICE Completion PollOnce(P& port, const QpView& qp, uint64_t* completed) {
  const uint64_t tail = port.LoadCqeTail(qp, 0);
  const abi::CqeOpcode opcode = abi::TailOpcode(tail);
  if (opcode == abi::CqeOpcode::kInvalid) return {};
  const uint64_t counter = abi::TailCounter(tail);
  if (opcode == abi::CqeOpcode::kRequesterError) {
    Ordering::Acquire(port, qp);
    return ErrorCompletion(port, qp, *completed + ((counter - *completed) & P::Masks::kCounter));
  }
  const uint64_t advance = (counter + 1 - *completed) & P::Masks::kCounter;
  if (advance == 0) return {};
  if (advance <= LoadIndex(port, qp, qp.published) - *completed) *completed += advance;
  return {};
}

HOST_DEVICE uint64_t DeadlineOf(uint64_t now, uint64_t timeout) {
  return timeout == 0 ? ~0ull : now + timeout;
}

// Waits until `completed` reaches `target`, i.e. the WQE that starts at target - 1 is done, then
// orders that before what the caller reads next. The word is raised once, for the next who waits.
template <class Ordering, class P>
HOST_DEVICE Completion WaitCompleted(P& port, const QpView& qp, uint64_t target) {
  const uint64_t deadline = DeadlineOf(port.Now(), qp.timeout_ps);
  uint64_t completed = LoadIndex(port, qp, qp.completed);
  for (;;) {
    const Completion polled = PollOnce<Ordering>(port, qp, &completed);
    if (!polled.Ok()) return polled;
    if (completed >= target) {
      RaiseIndex(port, qp, qp.completed, completed);
      Ordering::Acquire(port, qp);
      return {Status::kOk, 0, 0, qp.qpn, target - 1};
    }
    if (!port.Relax(deadline)) return {Status::kTimeout, 0, 0, qp.qpn, completed};
  }
}

}  // namespace ringpost
