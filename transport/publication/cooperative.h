// cooperative.h: a warp reserves once, each lane builds its own WQE, one lane rings for all.
//
// All lanes of the warp call together. Only the last lane's WQE is signalled. A QP used by one
// warp is reserved with plain accesses; a shared one hands over from warp to warp. More lanes than
// half the ring holds (a CTA: block_port.h) take turns: a reservation that waited for completions
// of its own WQEs would wait for ever.
#pragma once

#include "transport/send_queue.h"

namespace ringpost {

struct Cooperative {
  static constexpr const char* kName = "cooperative";
  static constexpr bool kWarpWide = true;
  static constexpr bool kSharesQp = true;
  static constexpr bool kBatches = false;

  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted Post(P& port, const QpView& qp, Indices& own, Extent extent,
                                 const Build& build) {
    const uint32_t lanes = port.WarpSize();
    uint32_t most = lanes;
    // Seldom, as a division is slow on a GPU. What no turn could hold is refused below.
    if (2 * lanes * extent.count > qp.depth && 2 * extent.count <= qp.depth) {
      most = qp.depth / 2 / extent.count;
    }
    Posted all;
    for (uint32_t first = 0; first < lanes; first += most) {
      const uint32_t end = lanes - first < most ? lanes : first + most;
      const Posted turn = PostTurn<Ordering>(port, qp, own, extent, first, end, build);
      // One lane waits for all: for the end of the last turn.
      all.confirmed = turn.confirmed;
      if (all.status.Ok()) all.status = turn.status;
      // Nothing was reserved, and all lanes know.
      if (turn.confirmed == 0) break;
    }
    return all;
  }

  template <class Ordering, class P>
  static HOST_DEVICE Completion PublishPending(P&, const QpView&, Indices&) {
    return {};
  }

 private:
  static constexpr uint64_t kFailed = ~0ull;

  // Lanes [first, end) post.
  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted PostTurn(P& port, const QpView& qp, Indices& own, Extent extent,
                                     uint32_t first, uint32_t end, const Build& build) {
    const uint32_t lane = port.Lane();
    const uint32_t total = extent.count * (end - first);
    Completion status;
    uint64_t base = 0;
    if (lane == 0) base = ReserveForWarp<Ordering>(port, qp, own, total, &status);
    base = port.Shuffle(base, 0);
    if (base == kFailed) return {0, OfLeader(port, qp, status)};
    if (lane >= first && lane < end) {
      const bool last = lane + 1 == end;
      build(port, qp, base + (lane - first) * extent.count,
            last ? abi::kCqeAlways : abi::kCqeOnError);
    }
    // Orders every lane's WQE before what lane 0 does next; its release passes them on to the NIC.
    port.SyncWarp();
    const uint64_t confirmed = base + total - extent.count + extent.last + 1;
    if (lane == 0) {
      Ordering::Release(port, qp);
      status = Publish<Ordering>(port, qp, own, base, base + total, confirmed);
    }
    return {confirmed, status};
  }

  template <class Ordering, class P>
  static HOST_DEVICE uint64_t ReserveForWarp(P& port, const QpView& qp, Indices& own,
                                             uint32_t total, Completion* status) {
    if (qp.shared == 0) {
      *status = MakeRoom<Cooperative, Ordering>(port, qp, own, {total, 0});
      return status->Ok() ? ReserveOwned(own, total) : kFailed;
    }
    const Reservation slot = ReserveShared<Ordering>(port, qp, own, total);
    *status = slot.status;
    return slot.status.Ok() ? slot.index : kFailed;
  }

  template <class Ordering, class P>
  static HOST_DEVICE Completion Publish(P& port, const QpView& qp, Indices& own, uint64_t from,
                                        uint64_t to, uint64_t confirmed) {
    if (qp.shared == 0) {
      PublishOwned<Ordering>(port, qp, own, to, confirmed);
      EndPost<Cooperative>(port, qp, own, 0);
      return {};
    }
    if (!WaitTurn(port, qp, from)) return {Status::kTimeout, 0, 0, qp.qpn, from};
    Ordering::TakeTurn(port, qp);
    PublishShared<Ordering>(port, qp, to, confirmed);
    Ordering::MarkReady(port, qp, from, to);
    return {};
  }
};

}  // namespace ringpost
