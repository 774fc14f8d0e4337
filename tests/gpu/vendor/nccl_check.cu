// nccl_check: NCCL's own collectives and its device-side GIN between two processes, checked word by
// word.
//
//   nccl_check RANK FILE all_reduce [MOST_BYTES [REPETITIONS]]
//   nccl_check RANK FILE gin [REPETITIONS]
#include <nccl.h>
#include <nccl_device.h>

#include "check.h"

namespace {

using vendor::Cuda;
using vendor::Expect;
using vendor::rank;
using vendor::Say;

constexpr int kRanks = 2;

void Nccl(ncclResult_t result, const char* what) {
  vendor::Require(result == ncclSuccess, std::string(what) + ": " + ncclGetErrorString(result) +
                                             ": " + ncclGetLastError(nullptr));
}

ncclComm_t Connect(const std::string& file) {
  ncclUniqueId id;
  if (rank == 0) Nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  vendor::ShareId(&id, file);
  ncclComm_t communicator = nullptr;
  Nccl(ncclCommInitRank(&communicator, kRanks, id, rank), "ncclCommInitRank");
  Say("connected");
  return communicator;
}

// A sum of two of these is exact, and differs from word to word.
__global__ void Fill(float* words, size_t count, int of, int round) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    words[i] = static_cast<float>((i * 7 + of * 3 + round) % 65536);
  }
}

__global__ void CountWrong(const float* words, size_t count, int round, unsigned long long* wrong) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const float sum = static_cast<float>((i * 7 + round) % 65536) +
                      static_cast<float>((i * 7 + 3 + round) % 65536);
    if (words[i] != sum) atomicAdd(wrong, 1ull);
  }
}

void AllReduce(ncclComm_t communicator, size_t most_bytes, int repetitions) {
  cudaStream_t stream = nullptr;
  Cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
  float* words = nullptr;
  unsigned long long* wrong = nullptr;
  Cuda(cudaMalloc(&words, most_bytes), "cudaMalloc");
  Cuda(cudaMalloc(&wrong, sizeof(*wrong)), "cudaMalloc");
  Cuda(cudaMemset(wrong, 0, sizeof(*wrong)), "cudaMemset");
  for (size_t bytes = 1024; bytes <= most_bytes; bytes *= 4) {
    const size_t count = bytes / sizeof(float);
    double seconds = 0;
    for (int round = 0; round < repetitions; ++round) {
      Fill<<<64, 256, 0, stream>>>(words, count, rank, round);
      Cuda(cudaStreamSynchronize(stream), "fill");
      const double begin = vendor::Seconds();
      Nccl(ncclAllReduce(words, words, count, ncclFloat, ncclSum, communicator, stream),
           "ncclAllReduce");
      Cuda(cudaStreamSynchronize(stream), "ncclAllReduce");
      seconds = vendor::Seconds() - begin;
      CountWrong<<<64, 256, 0, stream>>>(words, count, round, wrong);
    }
    Cuda(cudaStreamSynchronize(stream), "check");
    const unsigned long long found = vendor::FromGpu<unsigned long long>(wrong, 1)[0];
    Expect(found == 0, "all-reduce of " + std::to_string(bytes) + " B, " +
                           std::to_string(repetitions) + " times, the last in " +
                           std::to_string(static_cast<int>(1e6 * seconds)) + " us");
  }
}

// Each rank puts a part of `send` into each rank's `receive`, and waits for a signal of each.
__global__ void AllToAll(ncclWindow_t send, ncclWindow_t receive, size_t bytes,
                         ncclDevComm communicator) {
  ncclGin gin{communicator, 0};
  const uint64_t before = gin.readSignal(0);
  ncclGinBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), gin, ncclTeamWorld(communicator),
                                             communicator.railGinBarrier, blockIdx.x};
  barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
  for (int to = threadIdx.x; to < communicator.nRanks; to += blockDim.x) {
    gin.put(ncclTeamWorld(communicator), to, receive, communicator.rank * bytes, send, to * bytes,
            bytes, ncclGin_SignalInc{0});
  }
  gin.waitSignal(ncclCoopCta(), 0, before + communicator.nRanks);
  gin.flush(ncclCoopCta());
}

uint32_t WordOf(int from, int to, size_t i, int round) {
  return static_cast<uint32_t>((from * 2 + to) * 100003 + i * 17 + round * 7919);
}

void Gin(ncclComm_t communicator, int repetitions) {
  constexpr size_t kCount = 4096;  // words for each rank
  constexpr size_t kBytes = kCount * kRanks * sizeof(uint32_t);
  void *send = nullptr, *receive = nullptr;
  ncclWindow_t send_window, receive_window;
  Nccl(ncclMemAlloc(&send, kBytes), "ncclMemAlloc");
  Nccl(ncclMemAlloc(&receive, kBytes), "ncclMemAlloc");
  const int kind = NCCL_WIN_COLL_SYMMETRIC;
  Nccl(ncclCommWindowRegister(communicator, send, kBytes, &send_window, kind), "register");
  Nccl(ncclCommWindowRegister(communicator, receive, kBytes, &receive_window, kind), "register");
  ncclDevCommRequirements asked{};
  asked.railGinBarrierCount = 1;
  asked.ginSignalCount = 1;
  ncclDevComm device;
  Nccl(ncclDevCommCreate(communicator, &asked, &device), "ncclDevCommCreate");
  cudaStream_t stream = nullptr;
  Cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
  size_t wrong = 0;
  double seconds = 0;
  for (int round = 0; round < repetitions; ++round) {
    std::vector<uint32_t> words(kCount * kRanks);
    for (size_t i = 0; i < words.size(); ++i) {
      words[i] = WordOf(rank, static_cast<int>(i / kCount), i % kCount, round);
    }
    Cuda(cudaMemcpy(send, words.data(), kBytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    const double begin = vendor::Seconds();
    AllToAll<<<1, 64, 0, stream>>>(send_window, receive_window, kCount * sizeof(uint32_t), device);
    Cuda(cudaStreamSynchronize(stream), "all-to-all");
    seconds = vendor::Seconds() - begin;
    words = vendor::FromGpu<uint32_t>(receive, words.size());
    for (size_t i = 0; i < words.size(); ++i) {
      wrong += words[i] != WordOf(static_cast<int>(i / kCount), rank, i % kCount, round);
    }
  }
  Expect(wrong == 0, "GIN all-to-all, " + std::to_string(repetitions) + " times, the last in " +
                         std::to_string(static_cast<int>(1e6 * seconds)) + " us");
  Nccl(ncclDevCommDestroy(communicator, &device), "ncclDevCommDestroy");
  Nccl(ncclCommWindowDeregister(communicator, send_window), "deregister");
  Nccl(ncclCommWindowDeregister(communicator, receive_window), "deregister");
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: nccl_check RANK FILE all_reduce|gin [...]\n");
    return 2;
  }
  rank = std::atoi(arguments[1]);
  const std::string what = arguments[3];
  vendor::UseGpu();
  ncclComm_t communicator = Connect(arguments[2]);
  if (what == "all_reduce") {
    const size_t most = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : 4 << 20;
    AllReduce(communicator, most, count > 5 ? std::atoi(arguments[5]) : 1);
  } else {
    Gin(communicator, count > 4 ? std::atoi(arguments[4]) : 2);
  }
  Nccl(ncclCommDestroy(communicator), "ncclCommDestroy");
  Say("destroyed");
  return vendor::Result();
}
