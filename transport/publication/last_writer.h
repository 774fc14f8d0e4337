// last_writer.h: threads share a QP; the last of those at work on it rings for all.
//
// NVSHMEM's ready head and deferred ring. A thread builds, waits until all slots before its own are
// ready, makes its own ready and so hands on at once, before anybody rings. It leaves the ring to
// others where some have reserved behind it, as each of them will decide again; but it rings at a
// batch boundary, so that who waits for space never waits for what nobody publishes. Those who ring
// take a lock, and one whose slots an other has published meanwhile does nothing.
#pragma once

#include "transport/send_queue.h"

namespace ringpost {

struct LastWriter {
  static constexpr const char* kName = "last_writer";
  static constexpr bool kWarpWide = false;
  static constexpr bool kSharesQp = true;
  static constexpr bool kBatches = false;

  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted Post(P& port, const QpView& qp, Indices& own, Extent extent,
                                 const Build& build) {
    const Reservation slot = ReserveShared<Ordering>(port, qp, own, extent.count);
    if (!slot.status.Ok()) return {0, slot.status};
    build(port, qp, slot.index, abi::kCqeAlways);
    // Orders this WQE before the ready head; whoever rings relies on that.
    Ordering::Release(port, qp);
    if (!WaitTurn(port, qp, slot.index)) {
      return {0, {Status::kTimeout, 0, 0, qp.qpn, slot.index}};
    }
    const uint64_t end = slot.index + extent.count;
    const uint64_t confirmed = slot.index + extent.last + 1;
    Ordering::MarkReady(port, qp, slot.index, end);
    const bool boundary = EndsBatch(qp, slot.index, end);
    const bool last = port.template Load<Order::kRelaxed, Scope::kGpu>(qp.reserved) == end;
    if (!boundary && !last) return {confirmed, {}};
    return {confirmed, Ring<Ordering>(port, qp, end, confirmed)};
  }

  // Who reserved last has rung, or will.
  template <class Ordering, class P>
  static HOST_DEVICE Completion PublishPending(P&, const QpView&, Indices&) {
    return {};
  }

 private:
  template <class Ordering, class P>
  static HOST_DEVICE Completion Ring(P& port, const QpView& qp, uint64_t end, uint64_t confirmed) {
    const uint64_t deadline = DeadlineOf(port.Now(), qp.timeout_ps);
    while (port.template CompareExchange<Order::kRelaxed, Scope::kGpu>(qp.ringing, 0, 1) != 0) {
      if (!port.Relax(deadline)) return {Status::kTimeout, 0, 0, qp.qpn, confirmed - 1};
    }
    // Takes over the WQEs up to the ready head, and what the last holder of the lock has stored.
    Ordering::TakeTurn(port, qp);
    // An older record behind a newer one would take WQEs back.
    if (port.template FetchMax<Order::kRelaxed, Scope::kGpu>(qp.published, confirmed) < confirmed) {
      PublishShared<Ordering>(port, qp, end, confirmed);
    }
    Ordering::Unlock(port, qp);
    return {};
  }
};

}  // namespace ringpost
