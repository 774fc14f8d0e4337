// waits.h: the waits of an Endpoint: for one QP, and for a word that a peer writes.
#pragma once

#include "transport/ordering.h"
#include "transport/send_queue.h"

namespace ringpost {

// Of a warp that posts together, one lane waits.
template <class Publication, class P, class Wait>
HOST_DEVICE Completion ByLeader(P& port, const QpView& qp, Wait&& wait) {
  if constexpr (Publication::kWarpWide) {
    Completion done;
    if (port.Lane() == 0) done = wait();
    done = OfLeader(port, qp, done);
    // Passes on to all lanes what lane 0 has acquired.
    port.SyncWarp();
    return done;
  } else {
    return wait();
  }
}

// Waits for all that is published, and for what ends at `confirmed`: on a shared QP this thread's
// last WQE may still wait for another thread to ring.
template <class Publication, class Ordering, class P>
HOST_DEVICE Completion WaitPublished(P& port, const QpView& qp, Indices& own, uint64_t confirmed) {
  port.Enter(Step::kWait, {qp.sink});
  const Completion rung = Publication::template PublishPending<Ordering>(port, qp, own);
  if (!rung.Ok()) return rung;
  const uint64_t published = PublishedOf(port, qp, own);
  const uint64_t target = confirmed > published ? confirmed : published;
  return WaitCompleted<Ordering>(port, qp, own, target);
}

// Waits until the word is at least `value`.
template <class Ordering, class P>
HOST_DEVICE Completion WaitForSignal(P& port, const QpView& qp, Ref<uint64_t> word,
                                     uint64_t value) {
  const uint64_t deadline = DeadlineOf(port.Now(), qp.timeout_ps);
  while (port.template Load<Order::kRelaxed, Scope::kSystem>(word) < value) {
    if (!port.Relax(deadline)) return {Status::kTimeout, 0, 0, qp.qpn, 0};
  }
  port.Enter(Step::kSignalled, {qp.sink});
  Ordering::Acquire(port, qp);
  return {};
}

}  // namespace ringpost
