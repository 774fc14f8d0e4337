// chained.h: the publication policy of a proxy's worker: WQEs are staged, and one ring announces
// all of them.
//
// Unlike Batched it needs no WQE of its own to end a chain: the worker rings when it has taken what
// is there. Each WQE is signalled, as each tells its producer.
#pragma once

#include "transport/send_queue.h"

namespace ringpost::proxy {

struct Chained {
  static constexpr const char* kName = "chained";
  static constexpr bool kWarpWide = false;
  static constexpr bool kSharesQp = false;
  static constexpr bool kBatches = true;

  template <class Ordering, class P, class Build>
  static Posted Post(P& port, const QpView& qp, Indices& own, Extent extent, const Build& build) {
    // What is staged must be under way before its slots are waited for.
    if (own.held && own.reserved + extent.count > own.room) {
      RingAll<Ordering>(port, qp, own, own.reserved);
    }
    const Completion made = MakeRoom<Chained, Ordering>(port, qp, own, extent);
    if (!made.Ok()) return {0, made};
    const uint64_t index = ReserveOwned(own, extent.count);
    build(port, qp, index, abi::kCqeAlways);
    return {index + extent.last + 1, {}};
  }

  template <class Ordering, class P>
  static Completion PublishPending(P& port, const QpView& qp, Indices& own) {
    if (own.held) RingAll<Ordering>(port, qp, own, own.reserved);
    return {};
  }

  // Rings for what is staged, of which the last WQE starts at `confirmed` - 1.
  template <class Ordering, class P>
  static void RingAll(P& port, const QpView& qp, Indices& own, uint64_t confirmed) {
    if (own.ready == own.reserved) return;
    // Orders the WQEs before record and doorbell; and as it acquires too, what producers have
    // released before the slots that this thread has read. The NIC relies on both.
    Ordering::Release(port, qp);
    own.ready = own.reserved;
    PublishOwned<Ordering>(port, qp, own, own.reserved, confirmed);
  }
};

}  // namespace ringpost::proxy
