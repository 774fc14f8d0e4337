// locked.h: threads share a QP and take its doorbell lock once for every WQE.
//
// The lock is a ticket lock: the reservation is the ticket and `ready` the number being served, so
// doorbells ring in slot order. Whoever holds it makes its WQE visible, rings and lets go.
#pragma once

#include "transport/send_queue.h"

namespace ringpost {

struct Locked {
  static constexpr const char* kName = "locked";
  static constexpr bool kWarpWide = false;
  static constexpr bool kSharesQp = true;
  static constexpr bool kBatches = false;

  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted Post(P& port, const QpView& qp, Indices& own, Extent extent,
                                 const Build& build) {
    const Reservation slot = ReserveShared<Ordering>(port, qp, own, extent.count);
    if (!slot.status.Ok()) return {0, slot.status};
    build(port, qp, slot.index, abi::kCqeAlways);
    if (!WaitTurn(port, qp, slot.index)) {
      return {0, {Status::kTimeout, 0, 0, qp.qpn, slot.index}};
    }
    // One fence for both: takes over what earlier holders stored, orders this WQE before the ring.
    Ordering::TakeTurn(port, qp);
    const uint64_t confirmed = slot.index + extent.last + 1;
    PublishShared<Ordering>(port, qp, slot.index + extent.count, confirmed);
    Ordering::MarkReady(port, qp, slot.index, slot.index + extent.count);
    return {confirmed, {}};
  }

  template <class Ordering, class P>
  static HOST_DEVICE Completion PublishPending(P&, const QpView&, Indices&) {
    return {};
  }
};

}  // namespace ringpost
