// publication_rates: how fast this GPU publishes WQEs under each publication policy, without a NIC.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -I. bench/gpu/publication_rates.cu -o /tmp/publication_rates
//
// The transport runs as on a NIC: WQEs, record and indices in GPU memory, the doorbell a word of
// pinned host memory. Every slot counts as completed long ago, so nobody waits for space and what
// is left is the cost of the GPU side. Prints nanoseconds per WQE and doorbell.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/gpu/measure.cuh"
#include "bench/gpu/queue.cuh"
#include "transport/endpoint.h"
#include "transport/publication/pairs.h"

namespace ringpost::bench {
namespace {

constexpr uint32_t kDepth = 1024;

struct Shape {
  uint32_t threads;
  uint32_t blocks;
  uint32_t threads_per_qp;
  uint32_t batch;
  bool shared;
};

QpView MakeView(const Shape& shape, uint64_t doorbell) {
  const QpView qp = MakeQueue(kDepth, shape.batch, shape.shared, doorbell);
  for (const Ref<uint64_t> word : {qp.reserved, qp.ready, qp.published}) {
    SetWord(word.address, kDepth);
  }
  CompleteEverything(qp);
  return qp;
}

template <class Publication, class Ordering>
__global__ void RateKernel(const QpView* views, uint32_t threads_per_qp, uint64_t target,
                           uint32_t puts) {
  CudaPort port;
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const QpTable table{&views[thread / threads_per_qp], 1, 0, 1, 0};
  Endpoint<CudaPort, Publication, Ordering> endpoint(port, table);
  uint64_t value = thread;
  for (uint32_t i = 0; i < puts; ++i) {
    endpoint.PutInline({target, 1}, &value, sizeof(value));
    ++value;
  }
}

template <class Publication, class Ordering>
double MicrosecondsOf(const Shape& shape, const QpView* views, uint64_t target, uint32_t puts) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  CheckCuda(cudaEventCreate(&begin), "event");
  CheckCuda(cudaEventCreate(&end), "event");
  CheckCuda(cudaEventRecord(begin), "event");
  RateKernel<Publication, Ordering>
      <<<shape.blocks, shape.threads / shape.blocks>>>(views, shape.threads_per_qp, target, puts);
  CheckCuda(cudaEventRecord(end), "event");
  CheckCuda(cudaEventSynchronize(end), "run");
  float ms = 0;
  CheckCuda(cudaEventElapsedTime(&ms, begin, end), "event");
  return 1e3 * ms;
}

// Two lengths, so that what a launch costs drops out.
template <class Publication, class Ordering>
void Print(const char* name, const Shape& shape) {
  const uint64_t first = ZeroedMemory(In::kPinnedHost, 65536);
  const uint32_t qps = shape.threads / shape.threads_per_qp;
  std::vector<QpView> views;
  for (uint32_t i = 0; i < qps; ++i) views.push_back(MakeView(shape, first + 64 * i));
  const uint64_t device = ZeroedMemory(In::kGpu, sizeof(QpView) * qps);
  CheckCuda(cudaMemcpy(reinterpret_cast<void*>(device), views.data(), sizeof(QpView) * qps,
                       cudaMemcpyDefault),
            "cudaMemcpy");
  const QpView* table = reinterpret_cast<const QpView*>(device);
  constexpr uint32_t kPuts = 512;
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const double shorter = MicrosecondsOf<Publication, Ordering>(shape, table, first, kPuts);
    const double longer = MicrosecondsOf<Publication, Ordering>(shape, table, first, 3 * kPuts);
    times.push_back((longer - shorter) / (2 * kPuts));
  }
  std::sort(times.begin(), times.end());
  const double each_us = times[times.size() / 2];  // one put of every thread
  const double of_one_qp_ns = 1e3 * each_us * qps / shape.threads;
  std::printf("%-34s %-12s %4u threads %3u blocks %3u QPs  %8.1f ns a put, %8.2f M/s\n", name,
              Ordering::kName, shape.threads, shape.blocks, qps, of_one_qp_ns,
              shape.threads / each_us);
}

template <class Ordering>
void PrintAll() {
  Print<PerThread, Ordering>("per_thread", {1, 1, 1, 1, false});
  Print<Batched, Ordering>("batched 16", {1, 1, 1, 16, false});
  Print<Batched, Ordering>("batched 16", {16, 16, 1, 16, false});
  Print<Batched, Ordering>("batched 16", {32, 1, 1, 16, false});
  Print<Batched, Ordering>("batched 16", {64, 64, 1, 16, false});
  Print<Locked, Ordering>("locked", {1, 1, 1, 1, true});
  Print<Locked, Ordering>("locked, one warp", {32, 1, 32, 1, true});
  Print<Locked, Ordering>("locked, one lane a warp", {32, 32, 32, 1, true});
  Print<OrderedHandoff, Ordering>("handoff 32, alone", {1, 1, 1, 32, true});
  Print<OrderedHandoff, Ordering>("handoff 32, one warp", {32, 1, 32, 32, true});
  Print<OrderedHandoff, Ordering>("handoff 32, eight warps", {256, 1, 256, 32, true});
  Print<OrderedHandoff, Ordering>("handoff 32, one lane a warp", {64, 64, 64, 32, true});
  Print<Cooperative, Ordering>("cooperative, own QP", {32, 1, 32, 32, false});
  Print<Cooperative, Ordering>("cooperative, shared QP", {32, 1, 32, 32, true});
  Print<Cooperative, Ordering>("cooperative, two warps", {64, 1, 64, 32, true});
  Print<Cooperative, Ordering>("cooperative, eight warps", {256, 1, 256, 32, true});
}

}  // namespace
}  // namespace ringpost::bench

int main() {
  ringpost::bench::SpinKernel<<<1, 1>>>(400'000'000);
  ringpost::bench::PrintAll<ringpost::OrderGpuFence>();
  ringpost::bench::PrintAll<ringpost::OrderGpuRelease>();
  ringpost::bench::PrintAll<ringpost::OrderNone>();
  return 0;
}
