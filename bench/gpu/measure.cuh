// measure.cuh: runs one operation of operations.cuh many times and keeps each time in SM cycles.
//
// One thread (or one warp) of one block; repetitions and steps are bounded, so a launch ends. The
// samples stay in shared memory until the end: a store to global memory would be outstanding at the
// next fence.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "transport/cuda_port.cuh"

namespace ringpost::bench {

constexpr uint32_t kWarmUp = 256;
constexpr uint32_t kRepetitions = 2048;

struct Samples {
  uint32_t cycles[kRepetitions];
  uint64_t all_cycles;  // of the whole loop, by both clocks
  uint64_t all_ps;
};

// What the measured thread keeps from one repetition to the next; an operation that has nothing
// needs no other.
template <class Op>
struct ThreadOf {
  __device__ ThreadOf(const Op&, CudaPort&) {}
  __device__ uint64_t Run(const Op& op, CudaPort& port, uint32_t repetition) {
    return op.Run(port, repetition);
  }
};

template <class Op>
__global__ void MeasureKernel(const __grid_constant__ Op op, Samples* samples) {
  __shared__ uint32_t cycles[kRepetitions];
  __shared__ volatile uint64_t result;
  CudaPort port;
  ThreadOf<Op> thread(op, port);
  const uint64_t first_ps = port.Now();
  const long long first = clock64();
  for (uint32_t i = 0; i < kWarmUp + kRepetitions; ++i) {
    op.Prepare(port, i);
    const long long begin = clock64();
    // Thread scope: no access moves out of the timed part. The store waits for the value.
    port.Fence<Order::kAcqRel, Scope::kThread>(op.bench.qp);
    result = thread.Run(op, port, i);
    port.Fence<Order::kAcqRel, Scope::kThread>(op.bench.qp);
    const long long end = clock64();
    if (i >= kWarmUp && port.Lane() == 0) {
      cycles[i - kWarmUp] = static_cast<uint32_t>(end - begin);
    }
  }
  if (port.Lane() != 0) return;
  samples->all_cycles = static_cast<uint64_t>(clock64() - first);
  samples->all_ps = port.Now() - first_ps;
  for (uint32_t i = 0; i < kRepetitions; ++i) samples->cycles[i] = cycles[i];
}

// One thread of each warp adds to one word, so that no two adds are merged.
__global__ void ContendKernel(uint64_t word, uint32_t adds) {
  CudaPort port;
  if (port.Lane() != 0) return;
  for (uint32_t i = 0; i < adds; ++i) {
    port.FetchAdd<Order::kRelaxed, Scope::kGpu>(Ref<uint64_t>{word}, 1);
  }
}

__global__ void SpinKernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

inline void CheckCuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "bench/gpu: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Per step, in SM cycles; the cost of reading the clock is still in `median`.
struct Measured {
  double median = 0;
  double least = 0;
  double p90 = 0;
  double clock_mhz = 0;
};

template <class Op>
Measured Measure(const Op& op, uint32_t threads) {
  Samples* device = nullptr;
  CheckCuda(cudaMalloc(&device, sizeof(Samples)), "cudaMalloc");
  MeasureKernel<<<1, threads>>>(op, device);
  CheckCuda(cudaGetLastError(), "launch");
  CheckCuda(cudaDeviceSynchronize(), "run");
  std::vector<Samples> host(1);
  CheckCuda(cudaMemcpy(host.data(), device, sizeof(Samples), cudaMemcpyDefault), "cudaMemcpy");
  CheckCuda(cudaFree(device), "cudaFree");
  uint32_t* cycles = host[0].cycles;
  std::sort(cycles, cycles + kRepetitions);
  return {static_cast<double>(cycles[kRepetitions / 2]), static_cast<double>(cycles[0]),
          static_cast<double>(cycles[kRepetitions * 9 / 10]),
          1e6 * static_cast<double>(host[0].all_cycles) / static_cast<double>(host[0].all_ps)};
}

// Nanoseconds for each atomic of a word that all SMs contend for: the median of several launches.
inline double ContendedNs(uint64_t word, int sms_count) {
  constexpr uint32_t kAdds = 500;
  constexpr int kWarps = 8;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  CheckCuda(cudaEventCreate(&begin), "event");
  CheckCuda(cudaEventCreate(&end), "event");
  std::vector<float> times;
  for (int i = 0; i < 12; ++i) {
    CheckCuda(cudaEventRecord(begin), "event");
    ContendKernel<<<sms_count, 32 * kWarps>>>(word, kAdds);
    CheckCuda(cudaEventRecord(end), "event");
    CheckCuda(cudaEventSynchronize(end), "run");
    float ms = 0;
    CheckCuda(cudaEventElapsedTime(&ms, begin, end), "event");
    if (i > 1) times.push_back(ms);
  }
  CheckCuda(cudaEventDestroy(begin), "event");
  CheckCuda(cudaEventDestroy(end), "event");
  std::sort(times.begin(), times.end());
  return 1e6 * times[times.size() / 2] / (static_cast<double>(kAdds) * kWarps * sms_count);
}

}  // namespace ringpost::bench
