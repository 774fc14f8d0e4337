// memory_routes: how long a host thread takes to reach GPU memory: through the agent that live NICs
// use, and by copies on a stream of its own.
//
//   bazel run //bench/gpu:memory_routes
//
// Each row alone, and while a kernel of one thread spins on a word of GPU memory, as one that waits
// for a NIC does. Nothing is asserted: this is a measurement.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/gpu/measure.cuh"
#include "transport/device_access.h"
#include "transport/memory/cuda_memory.h"
#include "transport/memory/gpu_agent.h"

namespace ringpost::bench {
namespace {

constexpr int kRounds = 2000;

__global__ void SpinOnWord(uint64_t word) {
  CudaPort port;
  while (port.Load<Order::kRelaxed, Scope::kSystem>(Ref<uint64_t>{word}) == 0) {
  }
}

template <class Body>
void Print(const char* what, const char* meanwhile, Body&& body) {
  std::vector<double> us;
  for (int i = -100; i < kRounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0) us.push_back(took.count());
  }
  std::sort(us.begin(), us.end());
  std::printf("%-34s %-8s p50 %6.2f  p90 %6.2f  p99 %6.2f us\n", what, meanwhile, us[kRounds / 2],
              us[kRounds * 9 / 10], us[kRounds * 99 / 100]);
}

struct Routes {
  CudaMemory memory{0};
  uint64_t gpu = memory.Allocate(Placement::kGpu, 1 << 16).Value().address;
  uint64_t pinned = memory.Allocate(Placement::kHost, 1 << 16).Value().address;
  cudaStream_t stream = nullptr;

  void Copy(uint64_t to, uint64_t from, uint64_t bytes) {
    CheckCuda(cudaMemcpyAsync(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes,
                              cudaMemcpyDefault, stream),
              "cudaMemcpyAsync");
  }
  void Wait() { CheckCuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }
};

void PrintAgent(Routes& r, DeviceAccess& agent, const char* meanwhile) {
  static uint8_t bytes[4096];
  Print("agent: read 8 B", meanwhile, [&] { agent.Read(r.gpu, bytes, 8); });
  Print("agent: read 64 B", meanwhile, [&] { agent.Read(r.gpu, bytes, 64); });
  Print("agent: read 4 KiB", meanwhile, [&] { agent.Read(r.gpu, bytes, 4096); });
  Print("agent: write 8 B, settle", meanwhile, [&] {
    agent.Write(r.gpu, bytes, 8);
    agent.Settle();
  });
  Print("agent: write 64 B, posted", meanwhile, [&] { agent.Write(r.gpu, bytes, 64); });
  Print("agent: write 4 KiB, settle", meanwhile, [&] {
    agent.Write(r.gpu, bytes, 4096);
    agent.Settle();
  });
  Print("agent: 16 x (write 64 B), settle", meanwhile, [&] {
    for (int i = 0; i < 16; ++i) agent.Write(r.gpu + 64 * i, bytes, 64);
    agent.Settle();
  });
}

void PrintCopies(Routes& r, const char* meanwhile) {
  Print("copy: read 8 B, synchronize", meanwhile, [&] {
    r.Copy(r.pinned, r.gpu, 8);
    r.Wait();
  });
  std::atomic_ref<uint64_t> landed(*reinterpret_cast<uint64_t*>(r.pinned));
  Print("copy: read 8 B, poll where it lands", meanwhile, [&] {
    landed.store(~0ull);
    r.Copy(r.pinned, r.gpu, 8);
    while (landed.load() == ~0ull) {
    }
  });
  Print("copy: read 4 KiB, synchronize", meanwhile, [&] {
    r.Copy(r.pinned, r.gpu, 4096);
    r.Wait();
  });
  Print("copy: write 8 B, synchronize", meanwhile, [&] {
    r.Copy(r.gpu, r.pinned, 8);
    r.Wait();
  });
  Print("copy: 16 x (write 64 B), synchronize", meanwhile, [&] {
    for (int i = 0; i < 16; ++i) r.Copy(r.gpu + 64 * i, r.pinned, 64);
    r.Wait();
  });
}

int Run() {
  Routes routes;
  int least = 0, most = 0;
  CheckCuda(cudaDeviceGetStreamPriorityRange(&least, &most), "priorities");
  CheckCuda(cudaStreamCreateWithPriority(&routes.stream, cudaStreamNonBlocking, most), "stream");
  const uint64_t word = routes.gpu + 32768;
  auto agent = StartGpuAgent(0, routes.memory);
  if (!agent.Ok()) {
    std::printf("memory_routes: %s\n", agent.Message().c_str());
    return 1;
  }
  for (const char* meanwhile : {"idle", "spinning"}) {
    cudaStream_t spins = nullptr;
    const bool spinning = std::string(meanwhile) == "spinning";
    if (spinning) {
      CheckCuda(cudaStreamCreateWithFlags(&spins, cudaStreamNonBlocking), "stream");
      SpinOnWord<<<1, 1, 0, spins>>>(word);
    }
    PrintAgent(routes, *agent.Value(), meanwhile);
    PrintCopies(routes, meanwhile);
    const uint64_t one = 1;
    if (spinning) agent.Value()->Write(word, &one, sizeof(one));
    if (spinning) CheckCuda(cudaStreamSynchronize(spins), "the spinning kernel");
  }
  return 0;
}

}  // namespace
}  // namespace ringpost::bench

int main() { return ringpost::bench::Run(); }
