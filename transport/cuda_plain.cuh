// cuda_plain.cuh: what CudaPort does without an instruction of its own, on top of `Derived`, which
// is CudaPort: it stores one segment, loads one word of a CQE, reads the clock and lets the other
// lanes run.
#pragma once

#include <cstdint>

#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"
#include "transport/abi/wqe.h"
#include "transport/port.h"
#include "transport/qp_view.h"

namespace ringpost {

template <class Derived>
class CudaPlain {
 public:
  using Masks = FullMasks;
  static constexpr bool kHasBlueFlame = false;

  HOST_DEVICE void StorePayload(uint64_t address, const void* source, uint64_t bytes) {
    Copy(reinterpret_cast<unsigned char*>(address), static_cast<const unsigned char*>(source),
         bytes);
  }

  HOST_DEVICE void LoadPayload(void* target, uint64_t address, uint64_t bytes) {
    Copy(static_cast<unsigned char*>(target), reinterpret_cast<const unsigned char*>(address),
         bytes);
  }

  // The first WQEBB lies in one piece and is unrolled, so that its segments stay in registers.
  HOST_DEVICE void StoreWqe(const QpView& qp, uint64_t index, const abi::Segment* segments,
                            uint32_t count) {
    const uint32_t slot = static_cast<uint32_t>(index) & (qp.depth - 1);
    const uint64_t first = qp.sq + uint64_t{slot} * abi::kWqebbBytes;
    RINGPOST_UNROLL
    for (uint32_t i = 0; i < abi::kSegmentsPerWqebb; ++i) {
      if (i < count) Derived::StoreSegment(first + i * abi::kSegmentBytes, segments[i]);
    }
    for (uint32_t i = abi::kSegmentsPerWqebb; i < count; ++i) {
      const uint32_t offset = slot * abi::kWqebbBytes + i * abi::kSegmentBytes;
      Derived::StoreSegment(qp.sq + (offset & (qp.depth * abi::kWqebbBytes - 1)), segments[i]);
    }
  }

  HOST_DEVICE void GatherInline(uint64_t) {}
  HOST_DEVICE void Enter(Step, Ref<uint64_t>) {}

  HOST_DEVICE uint64_t LoadCqeTail(uint64_t cq, uint32_t slot) {
    return Derived::LoadCqeWord(cq + uint64_t{slot} * abi::kCqeBytes + abi::kCqeTailOffset);
  }

  HOST_DEVICE uint64_t LoadCqeError(uint64_t cq, uint32_t slot) {
    return Derived::LoadCqeWord(cq + uint64_t{slot} * abi::kCqeBytes + abi::kCqeTailOffset -
                                sizeof(uint64_t));
  }

  template <Order O, Scope S>
  HOST_DEVICE void StoreDoorbellRecord(const QpView& qp, uint32_t counter) {
    const Ref<uint32_t> word{qp.record + abi::kRecordSendOffset};
    static_cast<Derived*>(this)->template Store<O, S>(word, abi::Swap32(counter));
  }

  HOST_DEVICE uint32_t Lane() const { return thread_ & (kLanes - 1); }
  HOST_DEVICE uint32_t WarpSize() const { return lanes_; }
  HOST_DEVICE uint32_t ThreadInBlock() const { return thread_; }
  HOST_DEVICE uint32_t BlockSize() const { return threads_; }

  HOST_DEVICE void Expect(Ref<uint64_t>, uint64_t) {}
  HOST_DEVICE void ExpectCqe(uint64_t, uint32_t, uint64_t, uint64_t) {}

  // A lane that spins may wait for another lane of its warp, say for the one that will ring; that
  // one must run meanwhile. The compiler makes most waiting loops let go of the warp, not all:
  // sleeping does. Once in 8 turns, and for the shortest time, so that what is waited for is not
  // seen late. The clock is read once in 64 turns, as that costs as much as a turn.
  HOST_DEVICE bool Relax(uint64_t deadline) {
    if ((++turns_ & 7) == 0) Derived::LetOtherLanesRun();
    if ((turns_ & 63) != 0) return true;
    return Derived::Now() < deadline;
  }

 protected:
  // The last warp of a block has the lanes that are left.
  HOST_DEVICE void Place(uint32_t thread, uint32_t threads) {
    const uint32_t left = threads - (thread & ~(kLanes - 1));
    thread_ = thread;
    threads_ = threads;
    lanes_ = left < kLanes ? left : kLanes;
  }
  HOST_DEVICE uint32_t WarpMask() const { return 0xffffffffu >> (kLanes - lanes_); }

 private:
  static constexpr uint32_t kLanes = 32;

  static HOST_DEVICE void Copy(unsigned char* to, const unsigned char* from, uint64_t bytes) {
    uint64_t done = 0;
    if (((reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from)) & 15) == 0) {
      for (; done + 16 <= bytes; done += 16) {
        *reinterpret_cast<uint4*>(to + done) = *reinterpret_cast<const uint4*>(from + done);
      }
    }
    for (; done < bytes; ++done) to[done] = from[done];
  }

  uint32_t thread_ = 0;
  uint32_t threads_ = 0;
  uint32_t lanes_ = kLanes;
  uint32_t turns_ = 0;
};

}  // namespace ringpost
