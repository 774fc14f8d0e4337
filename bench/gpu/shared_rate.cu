// shared_rate: how fast warps publish WQEs on one QP that they share, where space is given back
// only by completions.
//
//   bazel run //bench/gpu:shared_rate
//
// In place of the NIC stands one warp of another block, the sink: at each doorbell it reads the
// control segment of every new WQE, checks it, and writes the collapsed CQE of the last one. WQEs,
// CQ and doorbell are in GPU memory, so a completion comes back in about a microsecond: what is
// measured is the GPU's side, back-pressure included, and not a NIC.
#include <algorithm>
#include <cstdio>

#include "bench/gpu/queue.cuh"
#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"
#include "transport/endpoint.h"
#include "transport/publication/cooperative.h"

namespace ringpost::bench {
namespace {

constexpr uint32_t kLanes = 32;
constexpr uint64_t kTimeoutPs = 5'000'000'000'000;

struct Outcome {
  uint64_t ps;        // from the first put to the last completion
  uint64_t consumed;  // WQEs that the sink has seen
  uint64_t wrong;     // of those, not the WQE that belongs there
  uint64_t doorbells;
  uint32_t failed;  // 1 + the status of a put or wait
};

struct Job {
  QpView qp;
  RemoteSpan target;
  uint32_t puts;   // of each thread
  uint64_t total;  // of all
  Outcome* outcome;
};

__device__ bool Belongs(CudaPort& port, const QpView& qp, uint64_t index) {
  const uint64_t slot = qp.sq + (index & (qp.depth - 1)) * abi::kWqebbBytes;
  const uint64_t word = port.Load<Order::kRelaxed, Scope::kThread>(Ref<uint64_t>{slot});
  return word == abi::ControlWord(abi::Opcode::kRdmaWrite, index & abi::kIndexMask, qp.qpn, 3);
}

__device__ void WriteCqe(CudaPort& port, const QpView& qp, uint64_t index) {
  const uint64_t counter = abi::Swap16(static_cast<uint16_t>(index));
  // Release: the sink has read the slots before whoever sees this stores there again.
  port.Store<Order::kRelease, Scope::kGpu>(Ref<uint64_t>{qp.cq + abi::kCqeTailOffset},
                                           counter << 32 | abi::Swap32(qp.qpn));
}

__device__ void Sink(CudaPort& port, const Job& job) {
  const QpView& qp = job.qp;
  const uint64_t deadline = port.Now() + kTimeoutPs;
  uint64_t consumed = 0, doorbells = 0, wrong = 0;
  while (consumed < job.total) {
    uint64_t bell = port.Load<Order::kRelaxed, Scope::kGpu>(Ref<uint64_t>{qp.doorbell});
    bell = port.Shuffle(bell, 0);  // lanes may have seen different ones
    const uint64_t count = (abi::DecodeDoorbell(bell).producer - consumed) & abi::kIndexMask;
    if (count == 0 || count > qp.depth) {  // above: an older one has come later
      if (port.Ballot(!port.Relax(deadline)) != 0) break;
      continue;
    }
    // Orders the doorbell before the WQEs that it announces.
    port.Fence<Order::kAcquire, Scope::kGpu>(qp);
    for (uint64_t i = port.Lane(); i < count; i += kLanes) {
      if (!Belongs(port, qp, consumed + i)) ++wrong;
    }
    port.SyncWarp();
    consumed += count;
    ++doorbells;
    if (port.Lane() == 0) WriteCqe(port, qp, consumed - 1);
  }
  atomicAdd(reinterpret_cast<unsigned long long*>(&job.outcome->wrong), wrong);
  if (port.Lane() != 0) return;
  job.outcome->consumed = consumed;
  job.outcome->doorbells = doorbells;
}

template <class Ordering>
__global__ void ShareKernel(const __grid_constant__ Job job) {
  CudaPort port;
  if (blockIdx.x != 0) {
    Sink(port, job);
    return;
  }
  const QpTable table{&job.qp, 1, 0, 1, 0};
  Endpoint<CudaPort, Cooperative, Ordering> endpoint(port, table);
  port.SyncBlock();
  const uint64_t begin = port.Now();
  Completion done;
  for (uint64_t i = 0; i < job.puts && done.Ok(); ++i) {
    done = endpoint.PutInline(job.target, &i, sizeof(i)).status;
  }
  if (done.Ok()) done = endpoint.Quiet(CompletionScope::kSelectedQp);
  if (!done.Ok()) job.outcome->failed = 1 + static_cast<uint32_t>(done.status);
  port.SyncBlock();
  if (port.ThreadInBlock() == 0) job.outcome->ps = port.Now() - begin;
}

template <class Ordering>
Outcome RunOnce(uint32_t warps, uint32_t depth, uint32_t puts) {
  Job job;
  job.qp = MakeQueue(depth, kLanes, true, ZeroedMemory(In::kGpu, 4096));
  SetWord(job.qp.cq + abi::kCqeTailOffset, uint64_t{abi::kCqeInitialOpOwn} << 56);
  job.target = {0x7f0000001000, 0x1234};
  job.puts = puts;
  job.total = uint64_t{warps} * kLanes * puts;
  job.outcome = reinterpret_cast<Outcome*>(ZeroedMemory(In::kGpu, sizeof(Outcome)));
  ShareKernel<Ordering><<<2, warps * kLanes>>>(job);
  CheckCuda(cudaGetLastError(), "launch");
  CheckCuda(cudaDeviceSynchronize(), "run");
  Outcome outcome;
  CheckCuda(cudaMemcpy(&outcome, job.outcome, sizeof(outcome), cudaMemcpyDefault), "cudaMemcpy");
  return outcome;
}

// The middle of several runs. False: a run was not sound.
template <class Ordering>
bool Print(uint32_t warps, uint32_t depth) {
  constexpr uint32_t kPuts = 4096;
  constexpr int kRuns = 7;
  double rates[kRuns];
  double each = 0;
  for (double& rate : rates) {
    const Outcome outcome = RunOnce<Ordering>(warps, depth, kPuts);
    const uint64_t total = uint64_t{warps} * kLanes * kPuts;
    if (outcome.failed != 0 || outcome.wrong != 0 || outcome.consumed != total) {
      std::printf(
          "%-15s %u warps, depth %4u: FAILED: status %d, %llu of %llu consumed, %llu wrong\n",
          Ordering::kName, warps, depth, static_cast<int>(outcome.failed) - 1,
          static_cast<unsigned long long>(outcome.consumed), static_cast<unsigned long long>(total),
          static_cast<unsigned long long>(outcome.wrong));
      return false;
    }
    rate = 1e6 * static_cast<double>(total) / static_cast<double>(outcome.ps);
    each = static_cast<double>(total) / static_cast<double>(outcome.doorbells);
  }
  std::sort(rates, rates + kRuns);
  std::printf("%-15s %u warps, depth %4u: %6.1f M/s (%.1f to %.1f), %.1f WQEs a look of the sink\n",
              Ordering::kName, warps, depth, rates[kRuns / 2], rates[0], rates[kRuns - 1], each);
  return true;
}

template <class Ordering>
bool PrintAll() {
  bool sound = true;
  for (const uint32_t depth : {1024u, 256u}) {
    for (const uint32_t warps : {1u, 2u, 4u, 8u}) sound = Print<Ordering>(warps, depth) && sound;
  }
  return sound;
}

}  // namespace
}  // namespace ringpost::bench

int main() {
  using namespace ringpost;
  bench::SpinKernel<<<1, 1>>>(400'000'000);
  std::printf("one QP that warps of one block share (cooperative), back-pressure on\n");
  bool sound = bench::PrintAll<OrderGpuFence>();
  sound = bench::PrintAll<OrderGpuRelease>() && sound;
  return sound ? 0 : 1;
}
