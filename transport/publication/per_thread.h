// per_thread.h: one thread owns the QP and rings for every operation.
#pragma once

#include "transport/send_queue.h"

namespace ringpost {

struct PerThread {
  static constexpr const char* kName = "per_thread";
  static constexpr bool kWarpWide = false;
  static constexpr bool kSharesQp = false;
  static constexpr bool kBatches = false;

  // `build(port, qp, index, flags)` stores the WQEs that start at `index`; `flags` go into the last
  // one.
  template <class Ordering, class P, class Qp, class Build>
  static HOST_DEVICE Posted Post(P& port, const Qp& qp, Indices& own, Extent extent,
                                 const Build& build) {
    // In this order the usual case stands before what it would otherwise jump over.
    if (extent.count <= own.unchecked) [[likely]] {
      own.unchecked -= extent.count;
      RINGPOST_ASSUME(qp.kind == TransportKind::kRc);
      RINGPOST_ASSUME(qp.doorbell_mode == DoorbellMode::kGpu);
      return PostNext<Ordering>(port, qp, own, extent, build);
    }
    const Checked checked = PostChecked<Ordering>(port, OriginOf(qp), own, extent, build);
    own = checked.own;
    return checked.posted;
  }

  // `count` posts of `extent`, one WQEBB; `build(port, qp, index, flags, i)` stores the i-th. For
  // as many as there is known room for, nothing stands between one and the next.
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

  // Everything posted is published already.
  template <class Ordering, class P>
  static HOST_DEVICE Completion PublishPending(P&, const QpView&, Indices&) {
    return {};
  }

 private:
  // Posts from the `done`-th on, `run` of them, unchecked; returns what confirms the last.
  template <class Ordering, class P, class Qp, class Build>
  static HOST_DEVICE uint64_t PostRun(P& port, const Qp& qp, Indices& own, uint32_t done,
                                      uint32_t run, const Build& build) {
    RINGPOST_ASSUME(qp.kind == TransportKind::kRc);
    RINGPOST_ASSUME(qp.doorbell_mode == DoorbellMode::kGpu);
    const uint64_t first = own.reserved;
    RINGPOST_UNROLL_8
    for (uint32_t i = 0; i < run; ++i) {
      build(port, qp, first + i, abi::kCqeAlways, done + i);
      Ordering::Release(port, qp);
      Ring<Ordering>(port, qp, first + i + 1, first + i);
    }
    own.unchecked -= run;
    own.reserved += run;
    NotePublished(port, qp, own, own.reserved);
    return own.reserved;
  }

  template <class Ordering, class P, class Build>
  static HOST_DEVICE_APART Checked PostChecked(P& port, const QpView& qp, Indices own,
                                               Extent extent, Build build) {
    const Completion made = MakeRoom<PerThread, Ordering>(port, qp, own, extent);
    if (!made.Ok()) return {{0, made}, own};
    const Posted posted = PostNext<Ordering>(port, qp, own, extent, build);
    EndPost<PerThread>(port, qp, own, ~0ull);
    return {posted, own};
  }

  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted PostNext(P& port, const QpView& qp, Indices& own, Extent extent,
                                     const Build& build) {
    const uint64_t index = ReserveOwned(own, extent.count);
    build(port, qp, index, abi::kCqeAlways);
    Ordering::Release(port, qp);
    const uint64_t confirmed = index + extent.last + 1;
    PublishOwned<Ordering>(port, qp, own, own.reserved, confirmed);
    return {confirmed, {}};
  }
};

}  // namespace ringpost
