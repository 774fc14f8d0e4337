// per_thread.h: one thread owns the QP and rings for every operation.
#pragma once

#include "transport/send_queue.h"

namespace ringpost {

struct PerThread {
  static constexpr const char* kName = "per_thread";
  static constexpr bool kWarpWide = false;
  static constexpr bool kSharesQp = false;

  // `build(index, flags)` stores the WQEs that start at `index`; `flags` go into the last one.
  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted Post(P& port, const QpView& qp, Extent extent, Build&& build) {
    const Reservation slot = ReserveOwned<Ordering>(port, qp, extent.count);
    if (!slot.status.Ok()) return {0, slot.status};
    build(slot.index, abi::kCqeAlways);
    Ordering::Release(port, qp);
    const uint64_t confirmed = slot.index + extent.last + 1;
    PublishTo<Ordering>(port, qp, slot.index + extent.count, confirmed);
    return {confirmed, {}};
  }

  // Everything posted is published already.
  template <class Ordering, class P>
  static HOST_DEVICE Completion PublishPending(P&, const QpView&) {
    return {};
  }
};

}  // namespace ringpost
