// queue.cuh: a QP of which there is only the memory: no NIC stands behind it.
//
// WQEs, record and CQ are in GPU memory or in pinned host memory, index words in GPU memory, each
// in a line of its own. The memory lives as long as the program.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "bench/gpu/measure.cuh"
#include "transport/abi/wqe.h"
#include "transport/qp_view.h"

namespace ringpost::bench {

enum class In : uint8_t { kGpu, kPinnedHost };

inline uint64_t ZeroedMemory(In where, size_t bytes) {
  void* memory = nullptr;
  if (where == In::kPinnedHost) {
    CheckCuda(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped), "cudaHostAlloc");
  } else {
    CheckCuda(cudaMalloc(&memory, bytes), "cudaMalloc");
  }
  CheckCuda(cudaMemset(memory, 0, bytes), "cudaMemset");
  CheckCuda(cudaDeviceSynchronize(), "cudaMemset");
  return reinterpret_cast<uint64_t>(memory);
}

inline void SetWord(uint64_t address, uint64_t value) {
  CheckCuda(cudaMemcpy(reinterpret_cast<void*>(address), &value, sizeof(value), cudaMemcpyDefault),
            "cudaMemcpy");
}

inline QpView MakeQueue(uint32_t depth, uint32_t batch, bool shared, uint64_t doorbell,
                        In rings = In::kGpu) {
  QpView qp;
  qp.depth = depth;
  qp.batch = batch;
  qp.shared = shared ? 1 : 0;
  qp.qpn = 0x42;
  qp.timeout_ps = 1'000'000'000'000;
  qp.sq = ZeroedMemory(rings, size_t{depth} * abi::kWqebbBytes);
  qp.record = ZeroedMemory(rings, 128);
  qp.cq = ZeroedMemory(rings, 128);
  qp.doorbell = doorbell;
  const uint64_t words = ZeroedMemory(In::kGpu, 512);
  qp.reserved = {words};
  qp.ready = {words + 128};
  qp.published = {words + 256};
  qp.completed = {words + 384};
  return qp;
}

// Nobody ever waits for space: every slot counts as completed long ago.
inline void CompleteEverything(const QpView& qp) { SetWord(qp.completed.address, 1ull << 40); }

}  // namespace ringpost::bench
