// per_thread.h: one thread owns the QP and rings for every operation.
#pragma once

#include "transport/send_queue.h"

namespace ringpost {

struct PerThread {
  static constexpr const char* kName = "per_thread";
  static constexpr bool kWarpWide = false;
  static constexpr bool kSharesQp = false;
  static constexpr bool kBatches = false;

  // `build(index, flags)` stores the WQEs that start at `index`; `flags` go into the last one.
  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted Post(P& port, const QpView& qp, Indices& own, Extent extent,
                                 Build&& build) {
    if (extent.count <= own.unchecked) [[likely]] {
      own.unchecked -= extent.count;
      RINGPOST_ASSUME(qp.kind == TransportKind::kRc);
      RINGPOST_ASSUME(qp.doorbell_mode == DoorbellMode::kGpu);
      return PostNext<Ordering>(port, qp, own, extent, build);
    }
    const Completion made = MakeRoom<PerThread, Ordering>(port, qp, own, extent.count);
    if (!made.Ok()) return {0, made};
    const Posted posted = PostNext<Ordering>(port, qp, own, extent, build);
    EndPost<PerThread>(port, qp, own, ~0ull);
    return posted;
  }

  // Everything posted is published already.
  template <class Ordering, class P>
  static HOST_DEVICE Completion PublishPending(P&, const QpView&, Indices&) {
    return {};
  }

 private:
  template <class Ordering, class P, class Build>
  static HOST_DEVICE Posted PostNext(P& port, const QpView& qp, Indices& own, Extent extent,
                                     Build&& build) {
    const uint64_t index = ReserveOwned(own, extent.count);
    build(index, abi::kCqeAlways);
    Ordering::Release(port, qp);
    const uint64_t confirmed = index + extent.last + 1;
    PublishOwned<Ordering>(port, qp, own, own.reserved, confirmed);
    return {confirmed, {}};
  }
};

}  // namespace ringpost
