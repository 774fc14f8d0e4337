// operations.cuh: what op_costs measures, each through CudaPort as the transport uses it.
//
// An operation has Prepare, which is not timed, and Run, which is: it does kSteps of the same thing
// and returns a value that depends on the last one. Stores of an earlier repetition are drained by
// Prepare, so that only what it then leaves outstanding can slow a fence down.
#pragma once

#include <cstdint>

#include "bench/gpu/puts.cuh"
#include "transport/cuda_port.cuh"
#include "transport/publication/per_thread.h"

namespace ringpost::bench {

// What the operations work on. Rings, record and indices are in GPU memory; the doorbell is a word
// of pinned host memory.
struct Bench {
  QpView qp;
  uint64_t l1_chain = 0;    // first word of a cycle of pointers that fits in L1
  uint64_t l2_chain = 0;    // the same, spread over L2
  uint64_t host_chain = 0;  // the same, in pinned host memory
  uint64_t self = 0;        // a word in L2 that holds its own address
  uint64_t payload = 0;     // 128 bytes for each repetition, in L2 but not in L1
};

// fence.sc.sys waits for every store so far.
__device__ inline void Drain(CudaPort& port, const QpView& qp) {
  port.Fence<Order::kSeqCst, Scope::kSystem>(qp);
}

__device__ inline void StoreOneWqe(CudaPort& port, const QpView& qp, uint32_t repetition) {
  const abi::Segment wqe[4] = {{{repetition, 1, 2, 3}}, {{4, 5, 6, 7}}, {{8, 9, 10, 11}}, {}};
  port.StoreWqe(qp, repetition, wqe, 4);
}

struct OnBench {
  Bench bench;
  __device__ void Prepare(CudaPort&, uint32_t) const {}
};

struct Nothing : OnBench {
  static constexpr uint32_t kSteps = 1;
  __device__ uint64_t Run(CudaPort&, uint32_t) const { return 0; }
};

enum class ChainOp : uint8_t { kLoad, kAdd, kCompareSwap };

// Each step goes to the address that the step before returned.
template <ChainOp Kind, Scope S, uint64_t Bench::*First, uint32_t Steps>
struct Chain : OnBench {
  static constexpr uint32_t kSteps = Steps;
  __device__ uint64_t Run(CudaPort& port, uint32_t) const {
    uint64_t at = bench.*First;
#pragma unroll
    for (uint32_t i = 0; i < Steps; ++i) at = Step(port, {at});
    return at;
  }
  __device__ static uint64_t Step(CudaPort& port, Ref<uint64_t> word) {
    if constexpr (Kind == ChainOp::kLoad) return port.Load<Order::kRelaxed, S>(word);
    if constexpr (Kind == ChainOp::kAdd) return port.FetchAdd<Order::kRelaxed, S>(word, 0);
    if constexpr (Kind == ChainOp::kCompareSwap) {
      return port.CompareExchange<Order::kRelaxed, S>(word, 1, 0);
    }
  }
};

enum class Outstanding : uint8_t { kNothing, kWqe, kWqeAndDoorbell };

template <Outstanding Left>
__device__ void Leave(CudaPort& port, const QpView& qp, uint32_t repetition) {
  Drain(port, qp);
  if constexpr (Left != Outstanding::kNothing) StoreOneWqe(port, qp, repetition);
  if constexpr (Left == Outstanding::kWqeAndDoorbell) {
    port.RingDoorbell<Order::kRelaxed, Scope::kSystem>(qp, repetition);
  }
}

template <Order O, Scope S, Outstanding Left>
struct FenceOp : OnBench {
  static constexpr uint32_t kSteps = 1;
  __device__ void Prepare(CudaPort& port, uint32_t repetition) const {
    Leave<Left>(port, bench.qp, repetition);
  }
  // Timed alone: what it orders is what Prepare left outstanding.
  __device__ uint64_t Run(CudaPort& port, uint32_t) const {
    port.Fence<O, S>(bench.qp);
    return 0;
  }
};

template <Order O, Scope S, Outstanding Left>
struct StoreOp : OnBench {
  static constexpr uint32_t kSteps = 1;
  __device__ void Prepare(CudaPort& port, uint32_t repetition) const {
    Leave<Left>(port, bench.qp, repetition);
  }
  __device__ uint64_t Run(CudaPort& port, uint32_t repetition) const {
    port.StoreDoorbellRecord<O, S>(bench.qp, repetition);
    return 0;
  }
};

template <Order O, Scope S>
struct DoorbellOp : OnBench {
  static constexpr uint32_t kSteps = 1;
  __device__ void Prepare(CudaPort& port, uint32_t) const { Drain(port, bench.qp); }
  __device__ uint64_t Run(CudaPort& port, uint32_t repetition) const {
    port.RingDoorbell<O, S>(bench.qp, repetition);
    return 0;
  }
};

struct SegmentOp : OnBench {
  static constexpr uint32_t kSteps = 4;
  __device__ void Prepare(CudaPort& port, uint32_t) const { Drain(port, bench.qp); }
  __device__ uint64_t Run(CudaPort& port, uint32_t repetition) const {
    StoreOneWqe(port, bench.qp, repetition);
    return 0;
  }
};

struct PayloadLoad : OnBench {
  static constexpr uint32_t kSteps = 1;
  __device__ uint64_t Run(CudaPort& port, uint32_t repetition) const {
    alignas(16) uint64_t words[2];
    port.LoadPayload(words, bench.payload + 128ull * repetition, sizeof(words));
    return words[0] + words[1];
  }
};

struct PayloadStore : OnBench {
  static constexpr uint32_t kSteps = 1;
  __device__ void Prepare(CudaPort& port, uint32_t) const { Drain(port, bench.qp); }
  __device__ uint64_t Run(CudaPort& port, uint32_t repetition) const {
    alignas(16) const uint64_t words[2] = {repetition, 1};
    port.StorePayload(bench.payload + 128ull * repetition, words, sizeof(words));
    return 0;
  }
};

struct ShuffleOp : OnBench {
  static constexpr uint32_t kSteps = 32;
  __device__ void Prepare(CudaPort& port, uint32_t) const { port.SyncWarp(); }
  __device__ uint64_t Run(CudaPort& port, uint32_t repetition) const {
    uint64_t value = repetition;
#pragma unroll
    for (uint32_t i = 0; i < kSteps; ++i) value = port.Shuffle(value + i, i) + port.Lane();
    return value;
  }
};

struct WarpSyncOp : OnBench {
  static constexpr uint32_t kSteps = 32;
  __device__ void Prepare(CudaPort& port, uint32_t) const { port.SyncWarp(); }
  __device__ uint64_t Run(CudaPort& port, uint32_t) const {
#pragma unroll
    for (uint32_t i = 0; i < kSteps; ++i) port.SyncWarp();
    return 0;
  }
};

// A loop that waits for a word that holds its own address. What a turn takes longer than a load of
// that word (load_gpu.one_word) is the rest of a turn: `spin`.
struct PollTurn : OnBench {
  static constexpr uint32_t kSteps = 60;
  __device__ uint64_t Run(CudaPort& port, uint32_t) const {
    uint32_t left = kSteps;
    while (port.Load<Order::kRelaxed, Scope::kGpu>(Ref<uint64_t>{bench.self}) == bench.self) {
      if (!port.Relax(~0ull) || --left == 0) return 0;
    }
    return left;
  }
};

// Whole puts of 8 inline bytes. The CQ counts as having completed everything before: the thread
// never waits for space. One put is timed after a drain, which has emptied L1 as an acquire does;
// several are timed back to back.
template <class Ordering, uint32_t Puts>
struct PutOp : OnBench {
  static constexpr uint32_t kSteps = Puts;
  __device__ void Prepare(CudaPort& port, uint32_t) const { Drain(port, bench.qp); }
};

template <class Ordering, uint32_t Puts>
struct ThreadOf<PutOp<Ordering, Puts>> : PutsOfThread<PerThread, Ordering, Puts> {
  using Op = PutOp<Ordering, Puts>;
  __device__ ThreadOf(const Op& op, CudaPort& port)
      : ThreadOf::PutsOfThread(port, op.bench.qp, {op.bench.payload, 1}) {}
  __device__ uint64_t Run(const Op&, CudaPort&, uint32_t repetition) {
    return this->Put(repetition);
  }
};

}  // namespace ringpost::bench
