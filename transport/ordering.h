// ordering.h: the seven ordering policies: what stands between a WQE's bytes, the doorbell record
// and the doorbell. docs/memory_model.md has the table and says which cells are safe where.
//
// Each policy is a type with seven static functions, called by a publication policy in this order:
//   Release(port, qp)            once the WQE bytes are stored and before anyone is told of them
//   StoreRecord(port, qp, n)     BeforeRecord is part of Release
//   Ring(port, qp, value)        includes what the policy puts before the doorbell
//   MarkReady(port, qp, from, to)  shared QP: hands slots [from, to) to the next thread in order
//   Unlock(port, qp)             shared QP: lets the next thread ring
//   TakeTurn(port, qp)           shared QP: after the turn was seen, before this thread publishes
//   Acquire(port, qp)            after a CQE, flag or index was seen, before its payload is used
//
// MarkReady is a compare-exchange, not a store: a read-modify-write carries on the release
// sequence, so whoever publishes sees the WQEs of every thread before it (docs/decisions/0002).
#pragma once

#include "transport/port.h"

namespace ringpost {

// The scope that makes gpu-scope policies work is that the NIC reads GPU memory through L2.
template <class O>
inline constexpr bool kSafeForHostPlacement = O::kScope == Scope::kSystem;

namespace ordering_detail {

template <Order O, Scope S, class P>
HOST_DEVICE void Advance(P& port, Ref<uint64_t> word, uint64_t from, uint64_t to) {
  port.template CompareExchange<O, S>(word, from, to);
}

}  // namespace ordering_detail

// Unsafe control: nothing is ordered, and completions are read without an acquire.
struct OrderNone {
  static constexpr const char* kName = "none";
  static constexpr Scope kScope = Scope::kThread;
  template <class P>
  static HOST_DEVICE void Release(P&, const QpView&) {}
  template <class P>
  static HOST_DEVICE void StoreRecord(P& port, const QpView& qp, uint32_t n) {
    port.template StoreDoorbellRecord<Order::kRelaxed, Scope::kGpu>(qp, n);
  }
  template <class P>
  static HOST_DEVICE void Ring(P& port, const QpView& qp, uint64_t value) {
    port.template RingDoorbell<Order::kRelaxed, Scope::kSystem>(qp, value);
  }
  template <class P>
  static HOST_DEVICE void MarkReady(P& port, const QpView& qp, uint64_t from, uint64_t to) {
    ordering_detail::Advance<Order::kRelaxed, Scope::kGpu>(port, qp.ready, from, to);
  }
  template <class P>
  static HOST_DEVICE void Unlock(P& port, const QpView& qp) {
    ordering_detail::Advance<Order::kRelaxed, Scope::kGpu>(port, qp.ringing, 1, 0);
  }
  template <class P>
  static HOST_DEVICE void TakeTurn(P&, const QpView&) {}
  template <class P>
  static HOST_DEVICE void Acquire(P&, const QpView&) {}
};

// Fences of one order and scope; `BetweenFence` says whether one also stands between the record
// and the doorbell. Without it the two stores are unordered: in RTS the NIC takes the index from
// the doorbell, so a record may trail it.
template <Order FenceOrder, Scope FenceScope, bool BetweenFence>
struct FenceOrdering {
  static constexpr Scope kScope = FenceScope;

  // Orders the WQE bytes before the record and the doorbell; the NIC relies on it when it fetches,
  // and on a shared QP whoever publishes this slot does too.
  template <class P>
  static HOST_DEVICE void Release(P& port, const QpView& qp) {
    port.template Fence<FenceOrder, FenceScope>(qp);
  }
  template <class P>
  static HOST_DEVICE void StoreRecord(P& port, const QpView& qp, uint32_t n) {
    port.template StoreDoorbellRecord<Order::kRelaxed, FenceScope>(qp, n);
  }
  template <class P>
  static HOST_DEVICE void Ring(P& port, const QpView& qp, uint64_t value) {
    // Orders the record before the doorbell: a NIC that takes its index from the record relies
    // on it.
    if constexpr (BetweenFence) port.template Fence<FenceOrder, FenceScope>(qp);
    port.template RingDoorbell<Order::kRelaxed, Scope::kSystem>(qp, value);
  }
  template <class P>
  static HOST_DEVICE void MarkReady(P& port, const QpView& qp, uint64_t from, uint64_t to) {
    ordering_detail::Advance<Order::kRelaxed, FenceScope>(port, qp.ready, from, to);
  }
  // Orders this thread's record and doorbell before those of whoever rings next.
  template <class P>
  static HOST_DEVICE void Unlock(P& port, const QpView& qp) {
    port.template Fence<FenceOrder, FenceScope>(qp);
    ordering_detail::Advance<Order::kRelaxed, FenceScope>(port, qp.ringing, 1, 0);
  }
  // Orders what the threads before handed over, and this thread's WQE, before record and doorbell.
  template <class P>
  static HOST_DEVICE void TakeTurn(P& port, const QpView& qp) {
    port.template Fence<FenceOrder, FenceScope>(qp);
  }
  // Orders the CQE or flag just read before the payload read next.
  template <class P>
  static HOST_DEVICE void Acquire(P& port, const QpView& qp) {
    port.template Fence<Order::kAcquire, FenceScope>(qp);
  }
};

// Release stores instead of fences: each store publishes all that came before it.
template <Scope StoreScope>
struct ReleaseOrdering {
  static constexpr Scope kScope = StoreScope;

  template <class P>
  static HOST_DEVICE void Release(P&, const QpView&) {}
  template <class P>
  static HOST_DEVICE void StoreRecord(P& port, const QpView& qp, uint32_t n) {
    port.template StoreDoorbellRecord<Order::kRelease, StoreScope>(qp, n);
  }
  template <class P>
  static HOST_DEVICE void Ring(P& port, const QpView& qp, uint64_t value) {
    port.template RingDoorbell<Order::kRelease, StoreScope>(qp, value);
  }
  template <class P>
  static HOST_DEVICE void MarkReady(P& port, const QpView& qp, uint64_t from, uint64_t to) {
    ordering_detail::Advance<Order::kRelease, StoreScope>(port, qp.ready, from, to);
  }
  template <class P>
  static HOST_DEVICE void Unlock(P& port, const QpView& qp) {
    ordering_detail::Advance<Order::kRelease, StoreScope>(port, qp.ringing, 1, 0);
  }
  // Takes over the WQEs of the threads before: the release stores that follow pass them on.
  template <class P>
  static HOST_DEVICE void TakeTurn(P& port, const QpView& qp) {
    port.template Fence<Order::kAcquire, StoreScope>(qp);
  }
  template <class P>
  static HOST_DEVICE void Acquire(P& port, const QpView& qp) {
    port.template Fence<Order::kAcquire, StoreScope>(qp);
  }
};

// DOCA and GDAKI.
struct OrderGpuFence : FenceOrdering<Order::kAcqRel, Scope::kGpu, false> {
  static constexpr const char* kName = "gpu_fence";
};
struct OrderGpuFenceDbrec : FenceOrdering<Order::kAcqRel, Scope::kGpu, true> {
  static constexpr const char* kName = "gpu_fence_dbrec";
};
// DeepEP.
struct OrderGpuRelease : ReleaseOrdering<Scope::kGpu> {
  static constexpr const char* kName = "gpu_release";
};
// NVSHMEM: __threadfence() is fence.sc, a different instruction from fence.acq_rel.
struct OrderThreadfence : FenceOrdering<Order::kSeqCst, Scope::kGpu, true> {
  static constexpr const char* kName = "threadfence";
};
struct OrderSystemRelease : ReleaseOrdering<Scope::kSystem> {
  static constexpr const char* kName = "system_release";
};
struct OrderSystemFence : FenceOrdering<Order::kSeqCst, Scope::kSystem, true> {
  static constexpr const char* kName = "system_fence";
};

}  // namespace ringpost
