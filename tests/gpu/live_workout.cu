#include "tests/gpu/live_workout.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

#include "transport/cuda_port.cuh"
#include "transport/endpoint.h"
#include "transport/publication/pairs.h"

namespace ringpost::gpu_test {
namespace {

// Where each thing of a thread lies in its 512 bytes.
constexpr uint64_t kBytes = 64;
constexpr uint64_t kSource = 0;  // of the put
constexpr uint64_t kSignalled = 64;
constexpr uint64_t kGot = 128;
constexpr uint64_t kFetched = 192;
constexpr uint64_t kPutTarget = 256;
constexpr uint64_t kSignalTarget = 320;  // two, used in turn
constexpr uint64_t kSignal = 448;
constexpr uint64_t kCounter = 456;

struct Job {
  WorkoutRank rank;
  WorkoutShape shape;
  uint32_t number;  // of the rank
  WorkoutReport* report;
};

struct Block {
  uint4 word[kBytes / sizeof(uint4)];
};

__device__ Block PatternOf(uint32_t rank, uint32_t thread, uint32_t round, uint32_t kind) {
  Block block;
  const uint32_t seed = (thread * 2654435761u) ^ (round * 40503u) ^ (rank << 31) ^ (kind << 28);
  for (uint32_t i = 0; i < kBytes / sizeof(uint4); ++i) {
    block.word[i] = {seed + 4 * i, seed ^ 0x5a5a5a5a, seed * 3 + i, ~seed};
  }
  return block;
}

__device__ bool Holds(CudaPort& port, uint64_t address, const Block& expected) {
  Block found;
  port.LoadPayload(&found, address, sizeof(found));
  bool same = true;
  for (uint32_t i = 0; i < kBytes / sizeof(uint4); ++i) {
    const uint4 a = found.word[i], b = expected.word[i];
    same = same && a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
  }
  return same;
}

// What it was before.
__device__ uint64_t Count(uint64_t& counter, uint64_t addend) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(&counter), addend);
}

// One thread's part of one round. Its sources may be overwritten: the last round ended with a wait.
template <class Publication, class Ordering>
__device__ Completion Round(CudaPort& port, Endpoint<CudaPort, Publication, Ordering>& endpoint,
                            const Job& job, uint32_t thread, uint32_t round, Step* step) {
  const uint64_t base = kThreadBytes * thread;
  const auto mine = [&](uint64_t at, uint64_t bytes) {
    return LocalSpan{job.rank.mine.address + base + at, bytes, job.rank.mine.lkey};
  };
  const auto peers = [&](uint64_t at) {
    return RemoteSpan{job.rank.peers.address + base + at, job.rank.peers.rkey};
  };
  const uint64_t signal_target = kSignalTarget + (round & 1) * kBytes;
  const uint64_t address = job.rank.mine.address + base;
  const Block put = PatternOf(job.number, thread, round, 0);
  const Block signalled = PatternOf(job.number, thread, round, 1);
  port.StorePayload(address + kSource, &put, sizeof(put));
  port.StorePayload(address + kSignalled, &signalled, sizeof(signalled));

  // Keeps the first failure; lanes that post together go through all of them together.
  Completion done;
  Posted posted;
  const auto keep = [&](Step at, const Completion& status) {
    if (!done.Ok() || status.Ok()) return;
    done = status;
    *step = at;
  };
  keep(Step::kPut, endpoint.Put(peers(kPutTarget), mine(kSource, kBytes)).status);
  keep(Step::kGet, endpoint.Get(mine(kGot, kBytes), peers(kPutTarget)).status);
  posted =
      endpoint.PutSignal(peers(signal_target), mine(kSignalled, kBytes), peers(kSignal), round + 1);
  keep(Step::kPutSignal, posted.status);
  posted = endpoint.FetchAdd(mine(kFetched, sizeof(uint64_t)), peers(kCounter), thread + 1);
  keep(Step::kFetchAdd, posted.status);
  posted = endpoint.Signal(job.rank.shared_counter, 1);
  keep(Step::kSignal, posted.status);
  keep(Step::kWait, endpoint.Wait(posted));
  if (!done.Ok()) return done;
  if (!Holds(port, address + kGot, put)) Count(job.report->wrong_gets, 1);
  uint64_t fetched = 0;
  port.LoadPayload(&fetched, address + kFetched, sizeof(fetched));
  if (fetched != uint64_t{round} * (thread + 1)) Count(job.report->wrong_counters, 1);

  // Two slots are enough: the peer signals round + 1 once it has checked this round.
  keep(Step::kWaitSignal, endpoint.WaitSignal(Ref<uint64_t>{address + kSignal}, round + 1));
  if (!done.Ok()) return done;
  const Block from_peer = PatternOf(1 - job.number, thread, round, 1);
  if (!Holds(port, address + signal_target, from_peer)) Count(job.report->wrong_puts, 1);
  return done;
}

template <class Publication, class Ordering>
__global__ void Workout(const __grid_constant__ Job job) {
  CudaPort port;
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t sharing = job.shape.threads / job.shape.qps;
  const QpTable table{job.rank.views, job.shape.qps, 0, job.shape.qps, thread / sharing};
  Endpoint<CudaPort, Publication, Ordering> endpoint(port, table);
  Completion done;
  Step step = Step::kPut;
  uint32_t round = 0;
  for (; round < job.shape.rounds && done.Ok(); ++round) {
    done = Round<Publication, Ordering>(port, endpoint, job, thread, round, &step);
    if constexpr (Publication::kWarpWide) {
      // Lanes that post together end together.
      if (port.Ballot(!done.Ok()) != 0 && done.Ok()) done.status = Status::kCancelled;
    }
  }
  WorkoutReport& report = *job.report;
  if (done.Ok()) {
    Count(report.finished, 1);
    return;
  }
  const uint64_t failed = Count(report.failed, 1);
  if (failed < WorkoutReport::kKept) report.failure[failed] = {done, thread, round - 1, step};
}

using Kernel = void (*)(Job);

Kernel KernelOf(const std::string& publication, const std::string& ordering) {
  Kernel kernel = nullptr;
  VisitPair(publication, ordering,
            [&]<class Publication, class O>() { kernel = &Workout<Publication, O>; });
  return kernel;
}

__global__ void PutUntilError(const __grid_constant__ PutsUntilError puts, PutsEnd* end) {
  CudaPort port;
  const QpTable table{puts.view, 1, 0, 1, 0};
  Endpoint<CudaPort, PerThread, OrderSystemRelease> endpoint(port, table);
  Completion done;
  for (uint64_t i = 0; i < puts.most && done.Ok(); ++i) {
    done = endpoint.Wait(endpoint.PutInline(puts.target, &i, sizeof(i)));
    port.Store<Order::kRelaxed, Scope::kSystem>(
        Ref<uint64_t>{reinterpret_cast<uint64_t>(&end->puts)}, i + (done.Ok() ? 1 : 0));
  }
  end->last = done;
}

std::string Text(cudaError_t error) {
  return error == cudaSuccess ? std::string() : cudaGetErrorString(error);
}

// An empty report and a stream of the device.
cudaError_t Prepare(int device, WorkoutReport** report, cudaStream_t* stream) {
  cudaError_t error = cudaSetDevice(device);
  if (error == cudaSuccess) error = cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
  if (error == cudaSuccess) error = cudaMalloc(report, sizeof(WorkoutReport));
  if (error == cudaSuccess) error = cudaMemsetAsync(*report, 0, sizeof(WorkoutReport), *stream);
  return error;
}

}  // namespace

std::string RunWorkout(const std::string& publication, const std::string& ordering,
                       const WorkoutShape& shape, const WorkoutRank (&ranks)[2],
                       WorkoutReport (&reports)[2]) {
  const Kernel kernel = KernelOf(publication, ordering);
  if (kernel == nullptr) return publication + " with " + ordering + " is not built";
  const uint32_t block = std::min(shape.threads, shape.block);
  WorkoutReport* found[2] = {};
  cudaStream_t streams[2] = {};
  cudaError_t error = cudaSuccess;
  for (uint32_t rank = 0; rank < 2 && error == cudaSuccess; ++rank) {
    error = Prepare(ranks[rank].device, &found[rank], &streams[rank]);
  }
  for (uint32_t rank = 0; rank < 2 && error == cudaSuccess; ++rank) {
    error = cudaSetDevice(ranks[rank].device);
    if (error != cudaSuccess) break;
    kernel<<<shape.threads / block, block, 0, streams[rank]>>>(
        {ranks[rank], shape, rank, found[rank]});
    error = cudaGetLastError();
  }
  for (uint32_t rank = 0; rank < 2; ++rank) {
    if (streams[rank] == nullptr) continue;
    if (error == cudaSuccess) error = cudaStreamSynchronize(streams[rank]);
    cudaStreamDestroy(streams[rank]);
    if (error == cudaSuccess) {
      error = cudaMemcpy(&reports[rank], found[rank], sizeof(WorkoutReport), cudaMemcpyDefault);
    }
    cudaFree(found[rank]);
  }
  cudaSetDevice(0);
  return Text(error);
}

RunningPuts::RunningPuts(const PutsUntilError& puts) {
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  stream_ = stream;
  if (error == cudaSuccess) error = cudaHostAlloc(&end_, sizeof(PutsEnd), cudaHostAllocMapped);
  if (error == cudaSuccess) {
    std::memset(static_cast<void*>(end_), 0, sizeof(PutsEnd));
    PutUntilError<<<1, 1, 0, stream>>>(puts, end_);
    error = cudaGetLastError();
  }
  refusal_ = Text(error);
}

RunningPuts::~RunningPuts() {
  if (stream_ != nullptr) cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
  if (end_ != nullptr) cudaFreeHost(end_);
}

uint64_t RunningPuts::SoFar() const {
  return end_ == nullptr ? 0 : *static_cast<volatile uint64_t*>(&end_->puts);
}

PutsEnd RunningPuts::Finish() {
  if (!refusal_.empty()) return {};
  refusal_ = Text(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)));
  return *end_;
}

const QpView* CopyViews(int device, const QpView* views, uint32_t count) {
  void* copy = nullptr;
  if (cudaSetDevice(device) != cudaSuccess ||
      cudaMalloc(&copy, count * sizeof(QpView)) != cudaSuccess)
    return nullptr;
  cudaMemcpy(copy, views, count * sizeof(QpView), cudaMemcpyDefault);
  cudaSetDevice(0);
  return static_cast<const QpView*>(copy);
}

void FreeViews(const QpView* views) { cudaFree(const_cast<QpView*>(views)); }

}  // namespace ringpost::gpu_test
