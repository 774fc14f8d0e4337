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
  static constexpr bool kBatches = true;

  template <class Ordering, class P, class Qp, class Build>
  static HOST_DEVICE Posted Post(P& port, const Qp& qp, Indices& own, Extent extent,
                                 const Build& build) {
    // In this order the usual case stands before what it would otherwise jump over.
    if (extent.count < own.unchecked) [[likely]] {
      RINGPOST_ASSUME(qp.kind == TransportKind::kRc);
      own.unchecked -= extent.count;
      const uint64_t index = ReserveOwned(own, extent.count);
      build(port, qp, index, abi::kCqeOnError);
      return {index + extent.last + 1, {}};
    }
    if (own.rings && extent.count == own.unchecked) {
      return PostLast<Ordering>(port, qp, own, extent, build);
    }
    const Checked checked = PostChecked<Ordering>(port, OriginOf(qp), own, extent, build);
    own = checked.own;
    return checked.posted;
  }

  // `count` posts of `extent`, one WQEBB; `build(port, qp, index, flags, i)` stores the i-th. Up to
  // the end of a batch, or of the room that is known, nothing stands between one and the next.
  template <class Ordering, class P, class Qp, class Build>
  static HOST_DEVICE Posted PostEach(P& port, const Qp& qp, Indices& own, uint32_t count,
                                     Extent extent, const Build& build) {
    Posted posted;
    for (uint32_t done = 0; done < count;) {
      const uint32_t run = own.unchecked < count - done ? own.unchecked : count - done;
      if (run != 0) {
        posted = {PostRun<Ordering>(port, qp, own, done, run, build), {}};
        done += run;
        continue;
      }
      const auto one = [build, done](P& p, const QpView& q, uint64_t index, uint8_t flags) {
        build(p, q, index, flags, done);
      };
      const Checked checked = PostChecked<Ordering>(port, OriginOf(qp), own, extent, one);
      own = checked.own;
      posted.status = checked.posted.status;
      if (!posted.status.Ok()) break;
      posted.confirmed = checked.posted.confirmed;
      ++done;
    }
    return posted;
  }

  // What another Endpoint holds it rings for itself.
  template <class Ordering, class P>
  static HOST_DEVICE Completion PublishPending(P& port, const QpView& qp, Indices& own) {
    if (!TakeIndices<Batched>(port, qp, own)) return {};
    if (own.ready == own.reserved) {
      EndPost<Batched>(port, qp, own, LimitOf(qp));
      return {};
    }
    const Completion made = MakeRoom<Batched, Ordering>(port, qp, own, {1, 0});
    if (!made.Ok()) return made;
    const uint64_t index = ReserveOwned(own, 1);
    const abi::Segment nop = abi::ControlSegmentOf(abi::Opcode::kNop, index & P::Masks::kWqeIndex,
                                                   qp.qpn, 1, abi::kCqeAlways);
    port.StoreWqe(qp, index, &nop, 1);
    RingAll<Ordering>(port, qp, own, index + 1);
    EndPost<Batched>(port, qp, own, 0);
    return {};
  }

 private:
  // A batch never outgrows a quarter of the ring: space is freed by completions, and those come
  // only for what is published.
  static HOST_DEVICE uint64_t LimitOf(const QpView& qp) {
    return qp.batch < qp.depth / 4 ? qp.batch : qp.depth / 4;
  }

  template <class Qp>
  static HOST_DEVICE void AssumePlain([[maybe_unused]] const Qp& qp) {
    RINGPOST_ASSUME(qp.kind == TransportKind::kRc);
    RINGPOST_ASSUME(qp.doorbell_mode == DoorbellMode::kGpu);
    RINGPOST_ASSUME(qp.indices == IndexHome::kEndpoint);
    RINGPOST_ASSUME(qp.max_inline >= kShortInlineBytes);
  }

  // Posts from the `done`-th on, `run` of them, unchecked, and rings if they fill a batch; returns
  // what confirms the last.
  template <class Ordering, class P, class Qp, class Build>
  static HOST_DEVICE uint64_t PostRun(P& port, const Qp& qp, Indices& own, uint32_t done,
                                      uint32_t run, const Build& build) {
    AssumePlain(qp);
    const bool fills = own.rings && run == own.unchecked;
    const uint64_t first = own.reserved;
    const uint32_t signalled = fills ? run - 1 : run;
    RINGPOST_UNROLL_8
    for (uint32_t i = 0; i < run; ++i) {
      build(port, qp, first + i, i == signalled ? abi::kCqeAlways : abi::kCqeOnError, done + i);
    }
    own.unchecked -= run;
    own.reserved += run;
    if (fills) {
      RingAll<Ordering>(port, qp, own, own.reserved);
      EndPost<Batched>(port, qp, own, LimitOf(qp));
    }
    return own.reserved;
  }

  // Fills a batch of a plain QP, for which there is room.
  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted PostLast(P& port, const QpView& qp, Indices& own, Extent extent,
                                     const Build& build) {
    AssumePlain(qp);
    const uint64_t index = ReserveOwned(own, extent.count);
    build(port, qp, index, abi::kCqeAlways);
    const uint64_t confirmed = index + extent.last + 1;
    RingAll<Ordering>(port, qp, own, confirmed);
    EndPost<Batched>(port, qp, own, LimitOf(qp));
    return {confirmed, {}};
  }

  template <class Ordering, class P, class Build>
  static HOST_DEVICE_APART Checked PostChecked(P& port, const QpView& qp, Indices own,
                                               Extent extent, Build build) {
    const Completion made = MakeRoom<Batched, Ordering>(port, qp, own, extent);
    if (!made.Ok()) return {{0, made}, own};
    const uint64_t index = ReserveOwned(own, extent.count);
    const uint64_t limit = LimitOf(qp);
    const bool full = own.reserved - own.ready >= limit;
    build(port, qp, index, full ? abi::kCqeAlways : abi::kCqeOnError);
    const uint64_t confirmed = index + extent.last + 1;
    if (full) RingAll<Ordering>(port, qp, own, confirmed);
    EndPost<Batched>(port, qp, own, own.ready + limit - own.reserved);
    return {{confirmed, {}}, own};
  }

  template <class Ordering, class P>
  static HOST_DEVICE void RingAll(P& port, const QpView& qp, Indices& own, uint64_t confirmed) {
    Ordering::Release(port, qp);
    own.ready = own.reserved;
    PublishOwned<Ordering>(port, qp, own, own.reserved, confirmed);
  }
};

}  // namespace ringpost
