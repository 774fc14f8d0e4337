// host_port.h: HostPort, the Port of a host thread: real time and real virtual addresses.
//
// A warp is `lanes` OS threads that share one HostWarp; each has its own HostPort. The scopes below
// system scope are all one: every agent is a thread of this machine.
//
// ThreadSanitizer does not follow fences. Under it a releasing Fence also releases the QP's fence
// word, the send counter of its doorbell record, and an acquiring one acquires it; so does the NIC
// by its acquiring load of that word. A release that is missing is thereby reported. Every load of
// a shared word acquires, on x86-64 the same instruction: a fence forgotten on the reading side
// goes unnoticed here; the simulated port is the one that reports it.
//
//   HostWarp warp(/*lanes=*/1); HostPort port(warp, /*lane=*/0);
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <type_traits>

#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"
#include "transport/host_group.h"
#include "transport/port.h"
#include "transport/standard_order.h"

// Of ThreadSanitizer's runtime; declared always, used under it.
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace ringpost {

class HostPort : public HostGroup {
 public:
  using Masks = FullMasks;
  static constexpr bool kHasBlueFlame = true;

  // `stop`, where given, ends every wait once it is true.
  explicit HostPort(const HostGroup& group, const std::atomic<bool>* stop = nullptr)
      : HostGroup(group), stop_(stop) {}
  HostPort(HostWarp& warp, uint32_t lane, const std::atomic<bool>* stop = nullptr)
      : HostPort(HostGroup(warp, lane), stop) {}

  template <Order O, Scope S, class T>
  T Load(Ref<T> word) {
    if constexpr (S == Scope::kThread) {
      return *At(word);
    } else {
      return std::atomic_ref<T>(*At(word)).load(LoadOrder(O));
    }
  }

  template <Order O, Scope S, class T>
  void Store(Ref<T> word, std::type_identity_t<T> value) {
    if constexpr (S == Scope::kThread) {
      *At(word) = value;
    } else {
      std::atomic_ref<T>(*At(word)).store(value, Standard(O));
    }
  }

  template <Order O, Scope S, class T>
  T FetchAdd(Ref<T> word, std::type_identity_t<T> value) {
    return std::atomic_ref<T>(*At(word)).fetch_add(value, UpdateOrder(O));
  }

  template <Order O, Scope S, class T>
  T FetchMax(Ref<T> word, std::type_identity_t<T> value) {
    std::atomic_ref<T> target(*At(word));
    T old = target.load(std::memory_order_relaxed);
    while (!target.compare_exchange_weak(old, old < value ? value : old, UpdateOrder(O),
                                         std::memory_order_relaxed)) {
    }
    return old;
  }

  // Release: orders the CQE that this thread saw, and so the NIC's reads of the WQEs before it,
  // before `completed`. Whoever reads that and uses their slots again relies on it; elsewhere it is
  // enough that a store which depends on a load stays behind it, but not in C++.
  template <Order O, Scope S, class T>
  void RaiseTo(Ref<T> word, std::type_identity_t<T> value) {
    FetchMax<Order::kAcqRel, S>(word, value);
  }

  template <Order O, Scope S>
  void StorePair(uint64_t address, uint64_t low, uint64_t high) {
    Store<Order::kRelaxed, S>(Ref<uint64_t>{address + sizeof(low)}, high);
    Store<O, S>(Ref<uint64_t>{address}, low);
  }

  template <Order O, Scope S, class T>
  T Exchange(Ref<T> word, std::type_identity_t<T> value) {
    return std::atomic_ref<T>(*At(word)).exchange(value, UpdateOrder(O));
  }

  // The word's old value; `value` is stored if that was `expected`.
  template <Order O, Scope S, class T>
  T CompareExchange(Ref<T> word, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    std::atomic_ref<T>(*At(word)).compare_exchange_strong(expected, value, UpdateOrder(O),
                                                          std::memory_order_acquire);
    return expected;
  }

  void StorePayload(uint64_t address, const void* source, uint64_t bytes) {
    if (bytes != 0) std::memcpy(reinterpret_cast<void*>(address), source, bytes);
  }

  void LoadPayload(void* target, uint64_t address, uint64_t bytes) {
    if (bytes != 0) std::memcpy(target, reinterpret_cast<const void*>(address), bytes);
  }

  void StoreWqe(const QpView& qp, uint64_t index, const abi::Segment* segments, uint32_t count) {
    const uint64_t ring = uint64_t{qp.depth} * abi::kWqebbBytes;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t offset = (index * abi::kWqebbBytes + i * abi::kSegmentBytes) & (ring - 1);
      *reinterpret_cast<abi::Segment*>(qp.sq + offset) = segments[i];
    }
  }
  void GatherInline(uint64_t) {}
  void Enter(Step, Ref<uint64_t>) {}
  template <Order O, Scope S>
  void Fence(const QpView& qp) {
    if constexpr (S == Scope::kThread) return;
    // Release: orders this thread's WQEs and payload before its later stores to the QP, on which
    // the NIC and whoever takes the next turn rely. Acquire: orders the CQE, flag or turn that was
    // seen before what it vouches for.
    std::atomic_thread_fence(Standard(O));
    if constexpr (kThreadSanitizer) {
      if constexpr (O != Order::kRelease) __tsan_acquire(FenceWord(qp));
      if constexpr (O != Order::kAcquire) __tsan_release(FenceWord(qp));
    }
  }

  template <Order O, Scope S>
  void StoreDoorbellRecord(const QpView& qp, uint32_t counter) {
    Store<O, S>(Ref<uint32_t>{qp.record + abi::kRecordSendOffset}, abi::Swap32(counter));
  }

  // A store to a write-combining register is not ordered after the ones to memory, and may stay in
  // the CPU: the first fence orders WQEs and record before it, on which the NIC relies; the second
  // sends it on its way.
  template <Order O, Scope S>
  void RingDoorbell(const QpView& qp, uint64_t value) {
    if (qp.combines != 0) std::atomic_thread_fence(std::memory_order_seq_cst);
    Store<O, S>(Ref<uint64_t>{qp.doorbell}, value);
    if (qp.combines != 0) std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  uint64_t LoadCqeTail(uint64_t cq, uint32_t slot) {
    return LoadCqeWord(cq, slot, abi::kCqeTailOffset);
  }

  uint64_t LoadCqeError(uint64_t cq, uint32_t slot) {
    return LoadCqeWord(cq, slot, abi::kCqeTailOffset - sizeof(uint64_t));
  }

  void Expect(Ref<uint64_t>, uint64_t) {}
  void ExpectCqe(uint64_t, uint32_t, uint64_t, uint64_t) {}
  // Gives its core away now and then: the thread that is waited for may have none.
  bool Relax(uint64_t deadline) {
    if ((++turns_ & 63) == 0) std::this_thread::yield();
    SpinPause();
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) return false;
    return Now() < deadline;
  }

  uint64_t Now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count() * 1000ull;
  }

 private:
  template <class T>
  static T* At(Ref<T> word) {
    return reinterpret_cast<T*>(word.address);
  }

  // A fence without a QP stands for itself.
  static void* FenceWord(const QpView& qp) {
    static uint32_t of_none;
    if (qp.record == 0) return &of_none;
    return reinterpret_cast<void*>(qp.record + abi::kRecordSendOffset);
  }

  static uint64_t LoadCqeWord(uint64_t cq, uint32_t slot, uint32_t offset) {
    const uint64_t address = cq + uint64_t{slot} * abi::kCqeBytes + offset;
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(address))
        .load(std::memory_order_acquire);
  }

  const std::atomic<bool>* const stop_;
  uint32_t turns_ = 0;
};

static_assert(Port<HostPort>);

}  // namespace ringpost
