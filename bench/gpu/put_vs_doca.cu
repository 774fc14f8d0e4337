// put_vs_doca: this library's put beside the device put of DOCA GPUNetIO, as NCCL's GIN uses it.
//
//   bench/gpu/put_vs_doca.sh FOLDER      FOLDER holds doca_gpunetio_device.h, as NCCL brings it
//
// Both write the same bytes of the same WQE into the same kind of ring in GPU memory, and ring the
// same kind of doorbell in pinned host memory; every slot counts as completed long ago, so nobody
// waits for space. One thread alone, in each of DOCA's sharing modes: what it pays for being able
// to share. DOCA rings, stores the record, and rings again; ours stores the record first.
#define NVCC_PRAGMA_UNROLL_DISABLED _Pragma("unroll 1")  // NCCL's own headers define these two
#define NVCC_PRAGMA_UNROLL(COUNT) _Pragma("unroll")
#include <doca_gpunetio_device.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "bench/gpu/measure.cuh"
#include "bench/gpu/puts.cuh"
#include "bench/gpu/queue.cuh"
#include "transport/publication/locked.h"
#include "transport/publication/ordered_handoff.h"
#include "transport/publication/per_thread.h"

namespace ringpost::bench {
namespace {

constexpr uint32_t kDepth = 4096;
constexpr RemoteSpan kTarget{0x7f0000001000, 0x1234};

struct Queue {
  QpView qp;
  doca_gpu_dev_verbs_qp* doca;
};

struct OnQueue {
  Queue bench;
  __device__ void Prepare(CudaPort& port, uint32_t) const {
    port.Fence<Order::kSeqCst, Scope::kSystem>(bench.qp);
  }
};

template <class Publication, class Ordering, uint32_t Puts>
struct OurPuts : OnQueue {
  static constexpr uint32_t kSteps = Puts;
};

// A doorbell for each put: releases of NCCL differ in how they leave one out.
template <doca_gpu_dev_verbs_resource_sharing_mode Mode, uint32_t Puts>
struct DocaPuts : OnQueue {
  static constexpr uint32_t kSteps = Puts;
  __device__ uint64_t Run(CudaPort&, uint32_t repetition) const {
    const doca_gpu_dev_verbs_addr target{kTarget.address, abi::Swap32(kTarget.rkey)};
    doca_gpu_dev_verbs_ticket_t ticket = 0;
    uint64_t value = repetition;
#pragma unroll 4
    for (uint32_t i = 0; i < Puts; ++i, ++value) {
      doca_gpu_dev_verbs_p<uint64_t, Mode, DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB>(
          bench.doca, target, value, &ticket);
    }
    return ticket;
  }
};

struct Nothing : OnQueue {
  __device__ uint64_t Run(CudaPort&, uint32_t) const { return 0; }
};

}  // namespace

template <class Publication, class Ordering, uint32_t Puts>
struct ThreadOf<OurPuts<Publication, Ordering, Puts>> : PutsOfThread<Publication, Ordering, Puts> {
  using Op = OurPuts<Publication, Ordering, Puts>;
  __device__ ThreadOf(const Op& op, CudaPort& port)
      : ThreadOf::PutsOfThread(port, op.bench.qp, kTarget) {}
  __device__ uint64_t Run(const Op&, CudaPort&, uint32_t repetition) {
    return this->Put(repetition);
  }
};

namespace {

doca_gpu_dev_verbs_qp* MakeDocaQp(uint64_t doorbell) {
  doca_gpu_dev_verbs_qp qp{};
  const uint32_t number = 0x42;
  qp.sq_num = number;
  qp.sq_num_shift8 = number << 8;
  qp.sq_num_shift8_be = abi::Swap32(number << 8);
  qp.sq_num_shift8_be_1ds = abi::Swap32(number << 8 | 1);
  qp.sq_num_shift8_be_2ds = abi::Swap32(number << 8 | 2);
  qp.sq_num_shift8_be_3ds = abi::Swap32(number << 8 | 3);
  qp.sq_num_shift8_be_4ds = abi::Swap32(number << 8 | 4);
  qp.sq_wqe_num = kDepth;
  qp.sq_wqe_mask = kDepth - 1;
  qp.sq_wqe_daddr =
      reinterpret_cast<uint8_t*>(ZeroedMemory(In::kGpu, size_t{kDepth} * abi::kWqebbBytes));
  // The word of the send queue.
  qp.sq_dbrec = reinterpret_cast<uint32_t*>(ZeroedMemory(In::kGpu, 128));
  qp.sq_db = reinterpret_cast<uint64_t*>(doorbell);
  qp.cq_sq.cqe_daddr = reinterpret_cast<uint8_t*>(ZeroedMemory(In::kGpu, size_t{kDepth} * 64));
  qp.cq_sq.cqe_num = kDepth;
  qp.cq_sq.cqe_mask = kDepth - 1;
  qp.cq_sq.cqe_ci = 1ull << 40;
  qp.cq_sq.mem_type = DOCA_GPUNETIO_VERBS_MEM_TYPE_GPU;
  qp.mem_type = DOCA_GPUNETIO_VERBS_MEM_TYPE_GPU;
  qp.nic_handler = DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB;
  const uint64_t device = ZeroedMemory(In::kGpu, sizeof(qp));
  CheckCuda(cudaMemcpy(reinterpret_cast<void*>(device), &qp, sizeof(qp), cudaMemcpyDefault),
            "cudaMemcpy");
  return reinterpret_cast<doca_gpu_dev_verbs_qp*>(device);
}

// The best of several in turn, so that a disturbance of the machine strikes neither side alone.
template <class Ours, class Doca>
void Compare(const char* mode, const char* what, const char* policy, uint32_t batch, bool shared) {
  const uint64_t doorbells = ZeroedMemory(In::kPinnedHost, 4096);
  const QpView qp = MakeQueue(kDepth, batch, shared, doorbells);
  CompleteEverything(qp);
  const Queue queue{qp, MakeDocaQp(doorbells + 256)};
  double ours = 1e9, doca = 1e9, mhz = 0;
  for (int i = 0; i < 7; ++i) {
    const double clock = Measure(Nothing{{queue}}, 1).median;
    const Measured a = Measure(Ours{{queue}}, 1);
    const Measured b = Measure(Doca{{queue}}, 1);
    ours = std::min(ours, 1e3 * (a.median - clock) / Ours::kSteps / a.clock_mhz);
    doca = std::min(doca, 1e3 * (b.median - clock) / Doca::kSteps / b.clock_mhz);
    mhz = b.clock_mhz;
  }
  std::printf("%-10s %-19s ours %-24s %7.1f ns  DOCA %7.1f ns  ours/DOCA %5.3f  (SM %.0f MHz)\n",
              mode, what, policy, ours, doca, ours / doca, mhz);
}

template <doca_gpu_dev_verbs_resource_sharing_mode Mode, class Publication>
void CompareShared(const char* mode) {
  Compare<OurPuts<Publication, OrderGpuFence, 1>, DocaPuts<Mode, 1>>(mode, "issue, alone",
                                                                     Publication::kName, 1, true);
  Compare<OurPuts<Publication, OrderGpuFence, 64>, DocaPuts<Mode, 64>>(mode, "1 WQE a doorbell",
                                                                       Publication::kName, 1, true);
}

}  // namespace
}  // namespace ringpost::bench

int main() {
  using namespace ringpost;
  using namespace ringpost::bench;
  constexpr auto kExclusive = DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_EXCLUSIVE;
  constexpr auto kCta = DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_CTA;
  constexpr auto kGpu = DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_GPU;
  SpinKernel<<<1, 1>>>(400'000'000);
  std::printf("gpu_fence; the most a record costs beside it: gpu_fence_dbrec\n");
  Compare<OurPuts<PerThread, OrderGpuFence, 1>, DocaPuts<kExclusive, 1>>(
      "exclusive", "issue, alone", "per_thread", 1, false);
  Compare<OurPuts<PerThread, OrderGpuFence, 64>, DocaPuts<kExclusive, 64>>(
      "exclusive", "1 WQE a doorbell", "per_thread", 1, false);
  Compare<OurPuts<PerThread, OrderGpuFenceDbrec, 1>, DocaPuts<kExclusive, 1>>(
      "exclusive", "issue, alone", "gpu_fence_dbrec", 1, false);
  Compare<OurPuts<PerThread, OrderGpuFenceDbrec, 64>, DocaPuts<kExclusive, 64>>(
      "exclusive", "1 WQE a doorbell", "gpu_fence_dbrec", 1, false);
  CompareShared<kCta, Locked>("CTA");
  CompareShared<kGpu, Locked>("GPU");
  CompareShared<kGpu, OrderedHandoff>("GPU");
  return 0;
}
