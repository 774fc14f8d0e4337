// cuda_port.cuh: CudaPort, the Port of a GPU thread.
//
// Blocks are one-dimensional; the warp is those of its 32 lanes that the block has. Order and scope
// become PTX's qualifiers. All PTX is here and in cuda_instructions.cuh. Words are in memory of a
// GPU, or host memory mapped.
#pragma once

#include <cstdint>
#include <type_traits>

#include "transport/cuda_instructions.cuh"
#include "transport/cuda_plain.cuh"
#include "transport/port.h"

namespace ringpost {

class CudaPort : public CudaPlain<CudaPort> {
 public:
  HOST_DEVICE CudaPort() {
    uint32_t thread = 0, block = 0;
    RINGPOST_PTX("mov.u32 %0, %%tid.x; mov.u32 %1, %%ntid.x;" : "=r"(thread), "=r"(block));
    Place(thread, block);
  }

  template <Order O, Scope S, class T>
  HOST_DEVICE T Load(Ref<T> word) {
    if constexpr (S == Scope::kThread) {
      return *reinterpret_cast<const T*>(word.address);
    } else {
      const uint64_t at = word.address;
      T out = 0;
      RINGPOST_BY_SIZE(RINGPOST_LOAD, ".b")
      return out;
    }
  }

  template <Order O, Scope S, class T>
  HOST_DEVICE void Store(Ref<T> word, std::type_identity_t<T> value) {
    const uint64_t at = word.address;
    if constexpr (S != Scope::kThread) {
      RINGPOST_BY_SIZE(RINGPOST_STORE, ".b")
    } else {  // weak; by a pointer it might be of any kind of memory
      static_assert(sizeof(T) == 8, "indices have 8 bytes");
      RINGPOST_STORE("", ".b64", "l");
    }
  }

  RINGPOST_UPDATE(FetchAdd, ".add.u")
  RINGPOST_UPDATE(FetchMax, ".max.u")
  RINGPOST_UPDATE(Exchange, ".exch.b")

  template <Order O, Scope S, class T>
  HOST_DEVICE void RaiseTo(Ref<T> word, std::type_identity_t<T> value) {
    const uint64_t at = word.address;
    RINGPOST_BY_SIZE(RINGPOST_RED, ".max.u")
  }

  // One access of 16 bytes by the memory model too.
  template <Order O, Scope S>
  HOST_DEVICE void StorePair([[maybe_unused]] uint64_t at, [[maybe_unused]] uint64_t low,
                             [[maybe_unused]] uint64_t high) {
    static_assert(S == Scope::kSystem && (O == Order::kRelaxed || O == Order::kRelease));
    if constexpr (O == Order::kRelease) {
      RINGPOST_STORE_PAIR(".release.sys");
    } else {
      RINGPOST_STORE_PAIR(".relaxed.sys");
    }
  }

  // The word's old value; `value` is stored if that was `expected`.
  template <Order O, Scope S, class T>
  HOST_DEVICE T CompareExchange(Ref<T> word, std::type_identity_t<T> expected,
                                std::type_identity_t<T> value) {
    const uint64_t at = word.address;
    T out = 0;
    RINGPOST_BY_SIZE(RINGPOST_CAS, ".b")
    return out;
  }

  // An acquire alone waits for no store: a few cycles, and fence.acq_rel.sys 0.5 us on an H200. A
  // release alone is a whole fence, as in the published libraries.
  template <Order O, Scope S>
  HOST_DEVICE void Fence(const QpView&) {
    if constexpr (S == Scope::kThread) {
      RINGPOST_PTX("" ::: "memory");
    } else if constexpr (O == Order::kSeqCst) {
      RINGPOST_BY_SCOPE(RINGPOST_FENCE, ".sc", "fence")
    } else if constexpr (O == Order::kAcquire) {
      RINGPOST_BY_SCOPE(RINGPOST_FENCE, ".acquire", "fence")  // CUDA 12.8
    } else {
      static_assert(O != Order::kRelaxed, "a fence that orders nothing");
      RINGPOST_BY_SCOPE(RINGPOST_FENCE, ".acq_rel", "fence")
    }
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

  // Orders accesses of the warp's lanes before it before those of all its lanes after it.
  HOST_DEVICE void SyncWarp() { RINGPOST_PTX("bar.warp.sync %0;" ::"r"(WarpMask()) : "memory"); }

  HOST_DEVICE uint64_t Shuffle([[maybe_unused]] uint64_t value, [[maybe_unused]] uint32_t source) {
    uint64_t out = 0;
    RINGPOST_PTX(
        "{ .reg .b32 l, h; mov.b64 {l, h}, %1; shfl.sync.idx.b32 l, l, %2, 31, %3; "
        "shfl.sync.idx.b32 h, h, %2, 31, %3; mov.b64 %0, {l, h}; }"
        : "=l"(out)
        : "l"(value), "r"(source), "r"(WarpMask())
        : "memory");
    return out;
  }

  HOST_DEVICE uint32_t Ballot([[maybe_unused]] bool vote) {
    uint32_t out = 0;
    RINGPOST_PTX("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                 : "=r"(out)
                 : "r"(static_cast<uint32_t>(vote)), "r"(WarpMask())
                 : "memory");
    return out;
  }

  // Orders the accesses of the CTA's threads before it before those of all of them after it.
  HOST_DEVICE void SyncBlock() { RINGPOST_PTX("barrier.sync 0;" ::: "memory"); }

  // The second barrier keeps the word until all have read it.
  HOST_DEVICE uint64_t ShareInBlock([[maybe_unused]] uint64_t value,
                                    [[maybe_unused]] uint32_t source) {
    uint64_t out = 0;
    RINGPOST_PTX(
        "{ .shared .align 8 .b64 ringpost_word; .reg .pred p; setp.eq.u32 p, %2, %3; "
        "@p st.shared.b64 [ringpost_word], %1; barrier.sync 0; ld.shared.b64 %0, [ringpost_word]; "
        "barrier.sync 0; }"
        : "=l"(out)
        : "l"(value), "r"(ThreadInBlock()), "r"(source)
        : "memory");
    return out;
  }

  HOST_DEVICE bool AnyInBlock([[maybe_unused]] bool vote) {
    uint32_t out = 0;
    RINGPOST_PTX(
        "{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.red.or.pred p, 0, p; selp.u32 %0, 1, 0, p; }"
        : "=r"(out)
        : "r"(static_cast<uint32_t>(vote))
        : "memory");
    return out != 0;
  }

  static HOST_DEVICE uint64_t Now() {
    uint64_t nanoseconds = 0;
    RINGPOST_PTX("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
    return nanoseconds * 1000;
  }
  // Of this SM, for times that Now() is too coarse for. Differences hold within one thread.
  static HOST_DEVICE uint64_t Cycles() {
    uint64_t cycles = 0;
    RINGPOST_PTX("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
  }

  static HOST_DEVICE void LetOtherLanesRun() { RINGPOST_PTX("nanosleep.u32 20;" ::: "memory"); }
  // For CudaPlain. Weak: a release or a fence after it makes the segment visible.
  static HOST_DEVICE void StoreSegment([[maybe_unused]] uint64_t address,
                                       [[maybe_unused]] const abi::Segment& segment) {
    RINGPOST_PTX("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(segment.word[0]),
                 "r"(segment.word[1]), "r"(segment.word[2]), "r"(segment.word[3])
                 : "memory");
  }
  // Not kept in L1, where the next poll would find it again.
  static HOST_DEVICE uint64_t LoadCqeWord([[maybe_unused]] uint64_t at) {
    uint64_t out = 0;
    RINGPOST_LOAD(".relaxed.sys", ".L1::no_allocate.b64", "l");
    return out;
  }
};

static_assert(Port<CudaPort>);

}  // namespace ringpost
