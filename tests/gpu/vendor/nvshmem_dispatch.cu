// nvshmem_dispatch: the dispatch of a mixture of experts as low-latency libraries do it, over
// NVSHMEM's device calls: a put for each token and expert, then a count for each expert.
//
//   nvshmem_dispatch RANK FILE [ROUNDS]
//
// A block serves an expert: its warps put that expert's tokens into the expert's buffer at its
// rank, one row for each, and say how many there are once those puts are ordered before. The
// receiver waits for the counts and looks at every word.
#include "start.h"

namespace {

using vendor::Cuda;
using vendor::Expect;
using vendor::kRanks;
using vendor::rank;
using vendor::Say;

constexpr int kTokens = 128;  // of each rank
constexpr int kExperts = 8;   // of both ranks together
constexpr int kLocal = kExperts / kRanks;
constexpr int kTopK = 2;
constexpr int kWords = 7168 / 4;  // of a token, behind its number
constexpr int kRow = kWords + 4;
constexpr int kThreads = 128;

struct Buffers {
  uint32_t* tokens;    // own: [token][row]
  uint32_t* received;  // [round's half][local expert][from][row number][row]
  uint64_t* counts;    // [round][local expert][from]: how many rows, plus one
};

__host__ __device__ bool Chooses(int from, int token, int expert) {
  const int first = (token * 5 + from * 3 + token / 7) % kExperts;
  const int second = (first + 1 + (token * 3 + from) % (kExperts - 1)) % kExperts;
  return expert == first || expert == second;
}

__host__ __device__ uint32_t WordOf(int from, int token, int word, int round) {
  return static_cast<uint32_t>(from) * 0x9e3779b1u + token * 40503u + word * 2654435u + round * 97u;
}

__device__ uint32_t* RowsOf(const Buffers& to, int half, int local, int from) {
  return to.received + ((size_t{half} * kLocal + local) * kRanks + from) * kTokens * kRow;
}

__global__ void Fill(Buffers own, int me, int round) {
  const int token = blockIdx.x;
  for (int word = threadIdx.x; word < kWords; word += blockDim.x) {
    own.tokens[token * kRow + 4 + word] = WordOf(me, token, word, round);
  }
  if (threadIdx.x == 0) own.tokens[token * kRow] = token;
}

__global__ void Dispatch(Buffers buffers, int me, int round, uint64_t* puts) {
  const int expert = blockIdx.x, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int to = expert / kLocal, local = expert % kLocal;
  uint32_t* const rows = RowsOf(buffers, round % 2, local, me);
  int row = 0;
  for (int token = 0; token < kTokens; ++token) {
    if (!Chooses(me, token, expert)) continue;
    if (row % warps == warp) {
      nvshmemx_putmem_nbi_warp(rows + row * kRow, buffers.tokens + token * kRow,
                               kRow * sizeof(uint32_t), to);
    }
    ++row;
  }
  nvshmem_fence();
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint64_t* const count = buffers.counts + (size_t{round} * kLocal + local) * kRanks + me;
  nvshmemx_signal_op(count, row + 1, NVSHMEM_SIGNAL_SET, to);
  if (to != me) atomicAdd(reinterpret_cast<unsigned long long*>(puts), row + 1ull);
}

// A block for each expert here and sender.
__global__ void Receive(Buffers buffers, int round, unsigned long long* wrong) {
  const int local = blockIdx.x, from = blockIdx.y;
  uint64_t* const count = buffers.counts + (size_t{round} * kLocal + local) * kRanks + from;
  __shared__ int rows;
  if (threadIdx.x == 0) {
    nvshmem_signal_wait_until(count, NVSHMEM_CMP_NE, 0);
    rows = static_cast<int>(*count) - 1;
  }
  __syncthreads();
  const int expert = nvshmem_my_pe() * kLocal + local;
  const uint32_t* const first = RowsOf(buffers, round % 2, local, from);
  int row = 0;
  for (int token = 0; token < kTokens; ++token) {
    if (!Chooses(from, token, expert)) continue;
    const uint32_t* const found = first + size_t{row++} * kRow;
    if (threadIdx.x == 0 && found[0] != token) atomicAdd(wrong, 1ull);
    for (int word = threadIdx.x; word < kWords; word += blockDim.x) {
      if (found[4 + word] != WordOf(from, token, word, round)) atomicAdd(wrong, 1ull);
    }
  }
  if (threadIdx.x == 0 && rows != row) atomicAdd(wrong, 1ull);
}

void Run(int rounds) {
  const size_t rows = size_t{2} * kLocal * kRanks * kTokens * kRow;
  const size_t counts = size_t{rounds} * kLocal * kRanks;
  Buffers buffers{};
  buffers.tokens = static_cast<uint32_t*>(nvshmem_malloc(kTokens * kRow * sizeof(uint32_t)));
  buffers.received = static_cast<uint32_t*>(nvshmem_malloc(rows * sizeof(uint32_t)));
  buffers.counts = static_cast<uint64_t*>(nvshmem_calloc(counts, sizeof(uint64_t)));
  vendor::Require(buffers.tokens && buffers.received && buffers.counts, "nvshmem_malloc");
  uint64_t* told = nullptr;  // puts, and what was wrong
  Cuda(cudaMalloc(&told, 2 * sizeof(*told)), "cudaMalloc");
  Cuda(cudaMemset(told, 0, 2 * sizeof(*told)), "cudaMemset");
  cudaStream_t stream = nullptr;
  Cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  Cuda(cudaDeviceSynchronize(), "memory");
  nvshmem_barrier_all();
  for (int round = 0; round < rounds; ++round) {
    Fill<<<kTokens, kThreads, 0, stream>>>(buffers, rank, round);
    Dispatch<<<kExperts, kThreads, 0, stream>>>(buffers, rank, round, told);
    Receive<<<dim3(kLocal, kRanks), kThreads, 0, stream>>>(
        buffers, round, reinterpret_cast<unsigned long long*>(told + 1));
    Cuda(cudaStreamSynchronize(stream), "dispatch");
    nvshmem_barrier_all();
  }
  const std::vector<uint64_t> found = vendor::FromGpu<uint64_t>(told, 2);
  Expect(found[1] == 0, "dispatch of " + std::to_string(kTokens) + " tokens, " +
                            std::to_string(rounds) + " times: " + std::to_string(found[1]) +
                            " words wrong");
  Say("remote operations of kernels: %llu", static_cast<unsigned long long>(found[0]));
  nvshmem_free(buffers.counts);
  nvshmem_free(buffers.received);
  nvshmem_free(buffers.tokens);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: nvshmem_dispatch RANK FILE [ROUNDS]\n");
    return 2;
  }
  rank = std::atoi(arguments[1]);
  vendor::StartNvshmem(arguments[2]);
  Run(count > 3 ? std::atoi(arguments[3]) : 2);
  nvshmem_finalize();
  Say("finalised");
  return vendor::Result();
}
