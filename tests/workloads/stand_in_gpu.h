// stand_in_gpu.h: host threads and host memory in the place of a GPU, for what workloads do around
// their kernels. The kernels run as they are, on another port.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "transport/device_access.h"
#include "transport/host_port.h"
#include "transport/host_warp.h"
#include "transport/memory/host_memory.h"
#include "transport/publication/pairs.h"
#include "workloads/gpu.h"

namespace ringpost::workloads {

inline constexpr uint64_t kStandInPsPerCycle = 500;

class StandInPort : public HostPort {
 public:
  using HostPort::HostPort;
  uint64_t Cycles() { return Now() / kStandInPsPerCycle; }
};

class StandInMemory final : public MemoryProvider {
 public:
  Result<Allocation> Allocate(Placement placement, uint64_t bytes) override {
    auto made = memory_.Allocate(Placement::kHost, bytes);
    if (made.Ok()) made.Value().placement = placement;
    return made;
  }
  void Free(const Allocation& allocation) override { memory_.Free(allocation); }
  Result<uint64_t> Map(void* pages, uint64_t bytes, Mapping mapping) override {
    return memory_.Map(pages, bytes, mapping);
  }
  void Unmap(void* pages) override { memory_.Unmap(pages); }
  Result<DmaBuf> ExportDmaBuf(const Allocation& allocation) override {
    return memory_.ExportDmaBuf(allocation);
  }
  Result<bool> Copy(uint64_t to, uint64_t from, uint64_t bytes) override {
    ++copies;
    return memory_.Copy(to, from, bytes);
  }

  std::atomic<int> copies{0};

 private:
  HostMemory memory_;
};

// The NIC's way to it. Release and acquire as an agent has them: who sees a word sees what was
// written before it.
class StandInAccess final : public DeviceAccess {
 public:
  bool Read(uint64_t address, void* bytes, uint64_t size) override {
    std::atomic_thread_fence(std::memory_order_acquire);
    std::memcpy(bytes, reinterpret_cast<const void*>(address), size);
    return true;
  }
  bool Write(uint64_t address, const void* bytes, uint64_t size) override {
    const uint64_t last = size >= 8 && (address + size) % 8 == 0 ? 8 : 0;
    std::memcpy(reinterpret_cast<void*>(address), bytes, size - last);
    if (last == 0) return true;
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(bytes) + size - last, last);
    std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(address + size - last))
        .store(word, std::memory_order_release);
    return true;
  }
  bool Settle() override { return true; }
  bool CompareSwap(uint64_t, uint32_t, uint64_t*, uint64_t) override { return false; }
  void Watch(const AnnouncedRing&) override {}
  void Unwatch(uint64_t) override {}
  bool ReadRecord(uint64_t address, uint32_t* word) override {
    *word = std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(address))
                .load(std::memory_order_acquire);
    return true;
  }
};

class StandInGpu final : public Gpu {
 public:
  ~StandInGpu() override { Wait(); }

  MemoryProvider& Memory() override { return memory_; }
  Result<std::unique_ptr<DeviceAccess>> Reach() override {
    return std::unique_ptr<DeviceAccess>(std::make_unique<StandInAccess>());
  }

  double Milliseconds() const override { return 1; }
  Result<Use> UseOf(const GpuKernel&) override { return Use{32, 8}; }

  std::string Start(const GpuKernel& kernel) override {
    bool built = false;
    std::visit(
        [&](const auto& job) {
          built = VisitPair(kernel.publication, kernel.ordering,
                            [&]<class Publication, class Ordering>() {
                              StartJob<Publication, Ordering>(kernel, job);
                            });
        },
        kernel.job);
    return built ? "" : "no such pair";
  }

  std::string Wait() override {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    warps_.clear();
    stages_.clear();
    return {};
  }

  std::vector<Fact> Facts() const override { return {{"gpu", "host threads"}}; }

 private:
  static constexpr uint32_t kLanes = 32;

  static constexpr uint32_t kStageWords = 2 * kStagedOperations;

  template <class Publication, class Ordering, class Job>
  static void RunJob(StandInPort& port, const Job& job, uint32_t thread, uint32_t* stage) {
    job.template Run<StandInPort, Publication, Ordering>(port, thread, stage);
  }
  // Of all variants the one with 8 values that compute.
  template <class Publication, class Ordering>
  static void RunJob(StandInPort& port, const CallerJob& job, uint32_t thread, uint32_t*) {
    const uint32_t block = thread / kCallerBlock;
    const uint32_t messages = job.variant.code == CallerCode::kAbsent ? 0 : job.messages;
    CallerBody<CallerWork::kCompute, 8>(job, thread, kCallerBlock, messages, [&](uint32_t message) {
      if (thread % kCallerBlock != 0) return;
      if (job.variant.code == CallerCode::kSendWait) {
        CallerSend<StandInPort, Ordering, true>(port, job, block, message);
      } else {
        CallerSend<StandInPort, Ordering, false>(port, job, block, message);
      }
    });
  }

  template <class Publication, class Ordering, class Job>
  void StartJob(const GpuKernel& kernel, const Job& job) {
    for (uint32_t block = 0; block < kernel.blocks; ++block) {
      for (uint32_t first = 0; first < kernel.threads_per_block; first += kLanes) {
        const uint32_t lanes = std::min(kLanes, kernel.threads_per_block - first);
        HostWarp& warp = warps_.emplace_back(lanes);
        std::vector<uint32_t>& stage = stages_.emplace_back(kStageWords);
        for (uint32_t lane = 0; lane < lanes; ++lane) {
          const uint32_t thread = block * kernel.threads_per_block + first + lane;
          threads_.emplace_back([job, thread, lane, &warp, &stage] {
            StandInPort port(warp, lane);
            RunJob<Publication, Ordering>(port, job, thread, stage.data());
          });
        }
      }
    }
  }

  StandInMemory memory_;
  std::deque<HostWarp> warps_;
  std::deque<std::vector<uint32_t>> stages_;
  std::vector<std::thread> threads_;
};

}  // namespace ringpost::workloads
