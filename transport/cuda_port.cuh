// cuda_port.cuh: CudaPort, the Port of a GPU thread.
//
// Blocks are one-dimensional; the warp is those of its 32 lanes that the block has. Order and scope
// of an access become the PTX qualifiers of the same names (cuda_words.cuh).
//
//   CudaPort port;
//   Endpoint<CudaPort, PerThread, OrderGpuFence> endpoint(port, table);
#pragma once

#include <cstdint>

#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"
#include "transport/cuda_words.cuh"
#include "transport/port.h"

namespace ringpost {

class CudaPort : public CudaWords {
 public:
  using Masks = FullMasks;

  HOST_DEVICE CudaPort() {
    uint32_t thread = 0, block = 0;
    RINGPOST_PTX("mov.u32 %0, %%tid.x;" : "=r"(thread));
    RINGPOST_PTX("mov.u32 %0, %%ntid.x;" : "=r"(block));
    const uint32_t left = block - (thread & ~(kLanes - 1));
    lane_ = thread & (kLanes - 1);
    lanes_ = left < kLanes ? left : kLanes;
  }

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
    const uint64_t ring = uint64_t{qp.depth} * abi::kWqebbBytes;
    const uint64_t offset = (index * abi::kWqebbBytes) & (ring - 1);
    RINGPOST_UNROLL
    for (uint32_t i = 0; i < abi::kSegmentsPerWqebb; ++i) {
      if (i < count) StoreSegment(qp.sq + offset + i * abi::kSegmentBytes, segments[i]);
    }
    for (uint32_t i = abi::kSegmentsPerWqebb; i < count; ++i) {
      StoreSegment(qp.sq + ((offset + i * abi::kSegmentBytes) & (ring - 1)), segments[i]);
    }
  }

  HOST_DEVICE void GatherInline(uint64_t) {}

  // An acquire or a release alone is fence.acq_rel too, as in the published libraries.
  template <Order O, Scope S>
  HOST_DEVICE void Fence(const QpView&) {
    if constexpr (S == Scope::kThread) {
      RINGPOST_PTX("" ::: "memory");
    } else if constexpr (O == Order::kSeqCst) {
      RINGPOST_BY_SCOPE(RINGPOST_FENCE, ".sc", "fence")
    } else {
      static_assert(O != Order::kRelaxed, "a fence that orders nothing");
      RINGPOST_BY_SCOPE(RINGPOST_FENCE, ".acq_rel", "fence")
    }
  }

  template <Order O, Scope S>
  HOST_DEVICE void StoreDoorbellRecord(const QpView& qp, uint32_t counter) {
    Store<O, S>(Ref<uint32_t>{qp.record + abi::kRecordSendOffset}, abi::Swap32(counter));
  }

  // .mmio: the register sees exactly this one access, neither split nor merged.
  template <Order O, Scope S>
  HOST_DEVICE void RingDoorbell(const QpView& qp, uint64_t value) {
    if constexpr (O == Order::kRelaxed && S == Scope::kSystem) {
      RINGPOST_PTX("st.mmio.relaxed.sys.global.b64 [%0], %1;" ::"l"(qp.doorbell), "l"(value)
                   : "memory");
    } else {
      Store<O, S>(Ref<uint64_t>{qp.doorbell}, value);
    }
  }

  HOST_DEVICE uint64_t LoadCqeTail(const QpView& qp, uint32_t slot) {
    return LoadCqeWord(qp.cq + slot * abi::kCqeBytes + abi::kCqeTailOffset);
  }

  HOST_DEVICE uint64_t LoadCqeError(const QpView& qp, uint32_t slot) {
    return LoadCqeWord(qp.cq + slot * abi::kCqeBytes + abi::kCqeTailOffset - sizeof(uint64_t));
  }

  // Orders the accesses of the warp's lanes before it before those of all its lanes after it.
  HOST_DEVICE void SyncWarp() { RINGPOST_PTX("bar.warp.sync %0;" ::"r"(WarpMask()) : "memory"); }

  HOST_DEVICE uint64_t Shuffle(uint64_t value, uint32_t source) {
    const uint32_t low = static_cast<uint32_t>(value);
    const uint32_t high = static_cast<uint32_t>(value >> 32);
    return uint64_t{ShuffleHalf(high, source)} << 32 | ShuffleHalf(low, source);
  }

  HOST_DEVICE uint32_t Ballot([[maybe_unused]] bool vote) {
    uint32_t out = 0;
    RINGPOST_PTX("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                 : "=r"(out)
                 : "r"(static_cast<uint32_t>(vote)), "r"(WarpMask())
                 : "memory");
    return out;
  }

  HOST_DEVICE uint32_t Lane() const { return lane_; }
  HOST_DEVICE uint32_t WarpSize() const { return lanes_; }

  HOST_DEVICE void Expect(Ref<uint64_t>, uint64_t) {}

  // No sleep: its granularity is above the latency that is waited for. The clock is read once in
  // 64 turns, as that costs as much as a turn.
  HOST_DEVICE bool Relax(uint64_t deadline) {
    if ((++turns_ & 63) != 0) return true;
    return Now() < deadline;
  }

  HOST_DEVICE uint64_t Now() {
    uint64_t nanoseconds = 0;
    RINGPOST_PTX("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
    return nanoseconds * 1000;
  }

 private:
  static constexpr uint32_t kLanes = 32;

  HOST_DEVICE uint32_t WarpMask() const { return 0xffffffffu >> (kLanes - lanes_); }

  // Weak: a release or a fence after it makes the segment visible.
  static HOST_DEVICE void StoreSegment([[maybe_unused]] uint64_t address,
                                       [[maybe_unused]] const abi::Segment& segment) {
    RINGPOST_PTX("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(segment.word[0]),
                 "r"(segment.word[1]), "r"(segment.word[2]), "r"(segment.word[3])
                 : "memory");
  }

  // Not kept in L1, where the next poll would find it again.
  static HOST_DEVICE uint64_t LoadCqeWord([[maybe_unused]] uint64_t address) {
    uint64_t out = 0;
    RINGPOST_PTX("ld.relaxed.sys.global.L1::no_allocate.b64 %0, [%1];"
                 : "=l"(out)
                 : "l"(address)
                 : "memory");
    return out;
  }

  HOST_DEVICE uint32_t ShuffleHalf([[maybe_unused]] uint32_t value,
                                   [[maybe_unused]] uint32_t source) const {
    uint32_t out = 0;
    RINGPOST_PTX("shfl.sync.idx.b32 %0, %1, %2, 31, %3;"
                 : "=r"(out)
                 : "r"(value), "r"(source), "r"(WarpMask())
                 : "memory");
    return out;
  }

  static HOST_DEVICE void Copy(unsigned char* to, const unsigned char* from, uint64_t bytes) {
    uint64_t done = 0;
    if (((reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from)) & 15) == 0) {
      for (; done + 16 <= bytes; done += 16) {
        *reinterpret_cast<uint4*>(to + done) = *reinterpret_cast<const uint4*>(from + done);
      }
    }
    for (; done < bytes; ++done) to[done] = from[done];
  }

  uint32_t lane_ = 0;
  uint32_t lanes_ = kLanes;
  uint32_t turns_ = 0;
};

static_assert(Port<CudaPort>);

}  // namespace ringpost
