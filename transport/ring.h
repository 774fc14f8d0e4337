// ring.h: how the NIC learns of new WQEs, in each doorbell mode of a QP.
#pragma once

#include "transport/abi/doorbell.h"
#include "transport/ordering.h"

namespace ringpost {

// The 64 bytes go to the two halves of the register in turn, as a CPU may still be combining those
// of the last ring. The first 8 are a doorbell, and go last.
template <class Ordering, class P>
HOST_DEVICE void RingBlueFlame(P& port, const QpView& qp, uint64_t last) {
  constexpr uint64_t kHalf = 0x100;
  uint64_t block[abi::kWqebbBytes / sizeof(uint64_t)];
  const uint64_t slot = (last & (qp.depth - 1)) * abi::kWqebbBytes;
  port.LoadPayload(block, qp.sq + slot, sizeof(block));
  const uint64_t half = port.template Load<Order::kRelaxed, Scope::kSystem>(qp.blueflame);
  port.template Store<Order::kRelaxed, Scope::kSystem>(qp.blueflame, half ^ kHalf);
  QpView at = qp;
  at.doorbell += half;
  port.StorePayload(at.doorbell + sizeof(uint64_t), block + 1, sizeof(block) - sizeof(uint64_t));
  Ordering::Ring(port, at, block[0]);
}

// Announces everything before `producer`; the last WQE in there starts at `last`. Callers order the
// WQE bytes first; on a shared QP one calls at a time.
template <class Ordering, class P>
HOST_DEVICE void Ring(P& port, const QpView& qp, uint64_t producer, uint64_t last) {
  port.Enter(Step::kRing, {qp.sink});
  if (qp.doorbell_mode == DoorbellMode::kCpu) {
    // Release: orders the WQEs before the index; the host thread relies on it, which rings with
    // what it has acquired. System scope, as it is no thread of the GPU.
    constexpr Order kOrder = Ordering::kScope == Scope::kThread ? Order::kRelaxed : Order::kRelease;
    port.template RaiseTo<kOrder, Scope::kSystem>(qp.producer, producer);
    return;
  }
  if (qp.doorbell_mode != DoorbellMode::kRecordFree) {
    Ordering::StoreRecord(port, qp, static_cast<uint32_t>(producer & P::Masks::kRecord));
  }
  if constexpr (P::kHasBlueFlame) {
    if (qp.doorbell_mode == DoorbellMode::kBlueFlame) {
      RingBlueFlame<Ordering>(port, qp, last);
      return;
    }
  }
  Ordering::Ring(port, qp, abi::ProducerDoorbell(producer & P::Masks::kDoorbell, qp.qpn));
  port.Enter(Step::kRung, {qp.sink});
}

// The host thread's part of kCpu: rings if the producer index is beyond `*rung`. One thread serves
// a QP. Fences, not release stores: under ThreadSanitizer a release store to the record, which is
// the QP's fence word, would drop what threads have released there for others (host_port.h).
template <class P>
bool RingFor(P& port, const QpView& qp, uint64_t* rung) {
  const uint64_t producer = port.template Load<Order::kAcquire, Scope::kSystem>(qp.producer);
  if (producer == *rung) return false;
  *rung = producer;
  // Passes on to the NIC what the threads that posted have released.
  OrderSystemFence::Release(port, qp);
  OrderSystemFence::StoreRecord(port, qp, static_cast<uint32_t>(producer & P::Masks::kRecord));
  OrderSystemFence::Ring(port, qp, abi::ProducerDoorbell(producer & P::Masks::kDoorbell, qp.qpn));
  return true;
}

}  // namespace ringpost
