// nvshmem_check: NVSHMEM between two processes, called by the host and by kernels, checked word by
// word.
//
//   nvshmem_check RANK FILE [ROUNDS [no_fetch|time]]
//
// no_fetch: no atomics that bring back a value; time: says how long a put is issued.
#include <algorithm>

#include "start.h"

namespace {

using vendor::Cuda;
using vendor::Expect;
using vendor::rank;
using vendor::Say;

constexpr size_t kBytes = 1 << 20;
constexpr int kTurns = 20;

// What is symmetric.
struct Words {
  uint8_t* received;
  uint8_t* own;
  uint64_t* signal;   // of puts with signal
  uint64_t* counter;  // of fetch-and-adds
  uint64_t* swapped;
  uint64_t* turn;  // of the ping-pong
  int* value;
  uint64_t* timed;
};

__global__ void PutValue(Words words, int value, int peer) {
  nvshmem_int_p(words.value, value, peer);
  nvshmem_quiet();
}

__global__ void PutSignal(Words words, int peer) {
  nvshmem_putmem_signal_nbi(words.received, words.own, kBytes, words.signal, 1, NVSHMEM_SIGNAL_ADD,
                            peer);
  nvshmem_quiet();
}

__global__ void WaitSignal(Words words, uint64_t value) {
  nvshmem_signal_wait_until(words.signal, NVSHMEM_CMP_GE, value);
}

__global__ void Get(Words words, int peer) {
  nvshmem_getmem(words.received, words.own, kBytes, peer);
}

__global__ void Atomics(Words words, uint64_t* found, int peer, uint64_t expected) {
  found[0] = nvshmem_uint64_atomic_fetch_add(words.counter, 7, peer);
  found[1] = nvshmem_uint64_atomic_compare_swap(words.swapped, expected, expected + 5, peer);
}

__global__ void Add(Words words, int peer) {
  nvshmem_uint64_atomic_add(words.counter, 7, peer);
  nvshmem_quiet();
}

__global__ void PingPong(Words words, int me, int peer, uint64_t first, int turns) {
  for (uint64_t turn = first; turn < first + turns; ++turn) {
    if (me == 0) nvshmemx_signal_op(words.turn, turn, NVSHMEM_SIGNAL_SET, peer);
    nvshmem_signal_wait_until(words.turn, NVSHMEM_CMP_GE, turn);
    if (me != 0) nvshmemx_signal_op(words.turn, turn, NVSHMEM_SIGNAL_SET, peer);
  }
}

// How long one thread is in a put of 8 bytes, by the SM's clock: alone, with nothing outstanding,
// and as one of kInTurn. What is between the clock's two readings and no put is taken off.
constexpr int kSamples = 256, kInTurn = 32;
enum class Call { kNothing, kValue, kMemory };

template <Call kCall>
__device__ void PutOnce(const Words& words, uint64_t value, int peer) {
  if (kCall == Call::kValue) nvshmem_uint64_p(words.timed, value, peer);
  if (kCall == Call::kMemory) nvshmem_putmem_nbi(words.timed, words.own, sizeof(value), peer);
}

template <Call kCall>
__global__ void TimePuts(Words words, int peer, int puts, uint32_t* cycles) {
  __shared__ uint32_t taken[kSamples];
  for (int i = 0; i < kSamples; ++i) {
    const long long begin = clock64();
    for (int put = 0; put < puts; ++put) PutOnce<kCall>(words, i, peer);
    taken[i] = static_cast<uint32_t>(clock64() - begin);
    nvshmem_quiet();
  }
  for (int i = 0; i < kSamples; ++i) cycles[i] = taken[i];
}

uint8_t ByteOf(int of, size_t i, int round) {
  return static_cast<uint8_t>(i * 31 + i / 256 + of * 101 + round * 13);
}

class Check {
 public:
  explicit Check(bool fetches) : fetches_(fetches) {
    Cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    auto* memory = static_cast<uint8_t*>(nvshmem_calloc(1, 2 * kBytes + 4096));
    vendor::Require(memory != nullptr, "nvshmem_calloc");
    auto* words = reinterpret_cast<uint64_t*>(memory + 2 * kBytes);
    words_ = {memory,
              memory + kBytes,
              words,
              words + 16,
              words + 32,
              words + 48,
              reinterpret_cast<int*>(words + 64),
              words + 80};
    Cuda(cudaMallocHost(&found_, 4096), "cudaMallocHost");
    Cuda(cudaDeviceSynchronize(), "memory");
  }

  // Prints, and expects nothing: what it takes is the machine's.
  void Time() {
    Say("issue of 8 bytes, alone and one of %d: uint64_p %.0f and %.0f ns, putmem_nbi %.0f and "
        "%.0f ns",
        kInTurn, NsOf<Call::kValue>(1), NsOf<Call::kValue>(kInTurn), NsOf<Call::kMemory>(1),
        NsOf<Call::kMemory>(kInTurn));
    nvshmem_barrier_all();
  }

  void Round(int round) {
    Prepare(round);
    nvshmem_putmem(words_.received, words_.own, kBytes, peer_);
    nvshmem_quiet();
    nvshmem_barrier_all();
    ExpectPeersBytes("putmem by the host", round);
    PutValue<<<1, 1, 0, stream_>>>(words_, 1000 * round + rank, peer_);
    Wait("int_p");
    Expect(vendor::FromGpu<int>(words_.value, 1)[0] == 1000 * round + peer_, "int_p in a kernel");
    nvshmem_barrier_all();
    PutSignal<<<1, 1, 0, stream_>>>(words_, peer_);
    WaitSignal<<<1, 1, 0, stream_>>>(words_, round + 1);
    Wait("putmem_signal");
    ExpectPeersBytes("putmem_signal in a kernel", round);
    Get<<<1, 1, 0, stream_>>>(words_, peer_);
    Wait("getmem");
    ExpectPeersBytes("getmem in a kernel", round);
    fetches_ ? CheckAtomics(round) : CheckAdd(round);
    CheckPingPong(round);
  }

  void End() {
    nvshmem_free(words_.received);
    Cuda(cudaFreeHost(found_), "cudaFreeHost");
  }

 private:
  template <Call kCall>
  double MedianOf(int puts) {
    TimePuts<kCall><<<1, 1, 0, stream_>>>(words_, peer_, puts, reinterpret_cast<uint32_t*>(found_));
    Wait("timed puts");
    const auto* cycles = reinterpret_cast<const uint32_t*>(found_);
    std::vector<uint32_t> sorted(cycles, cycles + kSamples);
    std::nth_element(sorted.begin(), sorted.begin() + kSamples / 2, sorted.end());
    return sorted[kSamples / 2];
  }

  // For each put, at the GPU's highest clock, which it has while a kernel runs.
  template <Call kCall>
  double NsOf(int puts) {
    int khz = 0;
    Cuda(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0), "clock");
    return (MedianOf<kCall>(puts) - MedianOf<Call::kNothing>(puts)) / puts * 1e6 / khz;
  }

  void Prepare(int round) {
    std::vector<uint8_t> bytes(kBytes);
    for (size_t i = 0; i < kBytes; ++i) bytes[i] = ByteOf(rank, i, round);
    Cuda(cudaMemcpy(words_.own, bytes.data(), kBytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    Cuda(cudaDeviceSynchronize(), "own bytes");
    nvshmem_barrier_all();
  }

  void Wait(const char* what) {
    Cuda(cudaStreamSynchronize(stream_), what);
    nvshmem_barrier_all();
  }

  // And clears them.
  void ExpectPeersBytes(const std::string& what, int round) {
    const std::vector<uint8_t> bytes = vendor::FromGpu<uint8_t>(words_.received, kBytes);
    size_t wrong = 0;
    for (size_t i = 0; i < kBytes; ++i) wrong += bytes[i] != ByteOf(peer_, i, round);
    Expect(wrong == 0, what + ", 1 MiB: " + std::to_string(wrong) + " bytes wrong");
    Cuda(cudaMemset(words_.received, 0, kBytes), "cudaMemset");
    Cuda(cudaDeviceSynchronize(), "clear");
    nvshmem_barrier_all();
  }

  void CheckAtomics(int round) {
    const uint64_t counted = 7 * static_cast<uint64_t>(round);
    const uint64_t swapped = 5 * static_cast<uint64_t>(round);
    Atomics<<<1, 1, 0, stream_>>>(words_, found_, peer_, swapped);
    Wait("atomics");
    Expect(found_[0] == counted, "fetch_add gives the old value");
    Expect(found_[1] == swapped, "compare_swap gives the old value");
    Expect(vendor::FromGpu<uint64_t>(words_.counter, 1)[0] == counted + 7, "fetch_add has added");
    Expect(vendor::FromGpu<uint64_t>(words_.swapped, 1)[0] == swapped + 5, "compare_swap swapped");
    nvshmem_barrier_all();
  }

  void CheckAdd(int round) {
    Add<<<1, 1, 0, stream_>>>(words_, peer_);
    Wait("add");
    Expect(vendor::FromGpu<uint64_t>(words_.counter, 1)[0] == 7 * static_cast<uint64_t>(round + 1),
           "atomic_add has added");
    nvshmem_barrier_all();
  }

  void CheckPingPong(int round) {
    const double begin = vendor::Seconds();
    PingPong<<<1, 1, 0, stream_>>>(words_, rank, peer_, 1 + uint64_t{kTurns} * round, kTurns);
    Cuda(cudaStreamSynchronize(stream_), "ping-pong");
    Say("signals there and back: %.1f us each", 1e6 * (vendor::Seconds() - begin) / kTurns);
    nvshmem_barrier_all();
  }

  const bool fetches_;
  const int peer_ = 1 - rank;
  cudaStream_t stream_ = nullptr;
  Words words_{};
  uint64_t* found_ = nullptr;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: nvshmem_check RANK FILE [ROUNDS [no_fetch|time]]\n");
    return 2;
  }
  rank = std::atoi(arguments[1]);
  const int rounds = count > 3 ? std::atoi(arguments[3]) : 1;
  vendor::StartNvshmem(arguments[2]);
  const std::string how = count > 4 ? arguments[4] : "";
  Check check(how != "no_fetch");
  if (how == "time") check.Time();
  for (int round = 0; round < rounds; ++round) check.Round(round);
  check.End();
  nvshmem_finalize();
  Say("finalised");
  return vendor::Result();
}
