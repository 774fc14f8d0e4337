// ordered_handoff.h: threads share a QP and hand their slots on in the order of reservation.
//
// A thread builds on its own, then waits for its turn. While it holds the turn it alone may ring:
// it does at a batch boundary, or when nobody had reserved behind it. A thread that reserves later
// takes a later turn and decides again, so the last slot is always published.
#pragma once

#include "transport/send_queue.h"

namespace ringpost {

struct OrderedHandoff {
  static constexpr const char* kName = "ordered_handoff";
  static constexpr bool kWarpWide = false;
  static constexpr bool kSharesQp = true;
  static constexpr bool kBatches = false;

  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted Post(P& port, const QpView& qp, Indices& own, Extent extent,
                                 const Build& build) {
    const Reservation slot = ReserveShared<Ordering>(port, qp, own, extent.count);
    if (!slot.status.Ok()) return {0, slot.status};
    build(port, qp, slot.index, abi::kCqeAlways);
    // Orders this WQE before the hand-over below: whoever publishes it relies on that.
    Ordering::Release(port, qp);
    const uint64_t end = slot.index + extent.count;
    bool rings = EndsBatch(qp, slot.index, end);
    if (!rings) rings = port.template Load<Order::kRelaxed, Scope::kGpu>(qp.reserved) == end;
    if (!WaitTurn(port, qp, slot.index)) {
      return {0, {Status::kTimeout, 0, 0, qp.qpn, slot.index}};
    }
    const uint64_t confirmed = slot.index + extent.last + 1;
    if (rings) {
      Ordering::TakeTurn(port, qp);
      PublishShared<Ordering>(port, qp, end, confirmed);
    }
    Ordering::MarkReady(port, qp, slot.index, end);
    return {confirmed, {}};
  }

  template <class Ordering, class P>
  static HOST_DEVICE Completion PublishPending(P&, const QpView&, Indices&) {
    return {};
  }
};

}  // namespace ringpost
