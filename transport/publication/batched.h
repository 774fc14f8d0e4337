// batched.h: one thread owns the QP and rings once for `qp.batch` WQEBBs.
//
// Only the WQE that ends a batch is signalled, so a batch costs one CQE. `ready` is how far the
// doorbell has gone; PublishPending ends a batch that is not full with a signalled NOP.
#pragma once

#include "transport/send_queue.h"

namespace ringpost {

struct Batched {
  static constexpr const char* kName = "batched";
  static constexpr bool kWarpWide = false;
  static constexpr bool kSharesQp = false;

  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted Post(P& port, const QpView& qp, Extent extent, Build&& build) {
    const uint64_t rung = port.template Load<Order::kRelaxed, Scope::kThread>(qp.ready);
    const Reservation slot = ReserveOwned<Ordering>(port, qp, extent.count);
    if (!slot.status.Ok()) return {0, slot.status};
    // A batch never outgrows a quarter of the ring: space is freed by completions, and those come
    // only for what is published.
    const uint64_t limit = qp.batch < qp.depth / 4 ? qp.batch : qp.depth / 4;
    const uint64_t end = slot.index + extent.count;
    const bool full = end - rung >= limit;
    build(slot.index, full ? abi::kCqeAlways : abi::kCqeOnError);
    if (full) Ring<Ordering>(port, qp, end, slot.index + extent.last + 1);
    return {slot.index + extent.last + 1, {}};
  }

  template <class Ordering, class P>
  static HOST_DEVICE Completion PublishPending(P& port, const QpView& qp) {
    const uint64_t end = port.template Load<Order::kRelaxed, Scope::kThread>(qp.reserved);
    if (port.template Load<Order::kRelaxed, Scope::kThread>(qp.ready) == end) return {};
    const Reservation slot = ReserveOwned<Ordering>(port, qp, 1);
    if (!slot.status.Ok()) return slot.status;
    const abi::Segment nop = abi::ControlSegmentOf(
        abi::Opcode::kNop, slot.index & P::Masks::kWqeIndex, qp.qpn, 1, abi::kCqeAlways);
    port.StoreWqe(qp, slot.index, &nop, 1);
    Ring<Ordering>(port, qp, slot.index + 1, slot.index + 1);
    return {};
  }

 private:
  template <class Ordering, class P>
  static HOST_DEVICE void Ring(P& port, const QpView& qp, uint64_t end, uint64_t confirmed) {
    Ordering::Release(port, qp);
    port.template Store<Order::kRelaxed, Scope::kThread>(qp.ready, end);
    PublishTo<Ordering>(port, qp, end, confirmed);
  }
};

}  // namespace ringpost
