// gpu.h: the GPUs of a machine: where CTAs run, and the threads that run there.
//
// CTAs are placed on SMs round robin and start as residency allows. A lane takes a stack when it
// starts and returns it when it ends.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "sim/gpu/gpu_thread.h"

namespace ringpost::sim {

inline constexpr uint32_t kLanesPerWarp = 32;
inline constexpr uint32_t kThreadsPerSm = 2048;  // residency of Hopper and Blackwell SMs

struct LaunchShape {
  uint32_t threads = 1;
  uint32_t threads_per_block = 1;
  uint32_t sms = 1;  // CTAs are spread over this many SMs
};

class Gpu {
 public:
  using Body = std::function<void(GpuThread&)>;

  // Of kind kHostThread: cores of the node's host, one thread a block, with costs of theirs
  // (MakeHostCostTable).
  Gpu(Engine& engine, Memory& memory, const CostTable& costs, uint16_t node,
      AgentKind kind = AgentKind::kGpuThread);
  ~Gpu();

  Engine& Clock() { return engine_; }
  Memory& Ram() { return memory_; }
  const CostTable& Costs() const { return costs_; }
  uint16_t Node() const { return node_; }

  // Makes the threads of one kernel; they start when the engine runs. One kernel at a time.
  void Launch(const LaunchShape& shape, Time start, size_t stack_bytes, Body body);
  bool Finished() const { return running_ == 0; }
  // Takes every waiting thread out of its loop: Relax returns false from now on.
  void Cancel();
  bool Cancelled() const { return cancelled_; }

  // When a copy of so many bytes within its memory ends, which is read and written, if it begins at
  // `start`: not before those that began earlier.
  Time CopyEnds(Time start, uint64_t bytes);
  // Room for what is copied; one copy at a time.
  void* CopyBuffer(uint64_t bytes) {
    if (copied_.size() < bytes) copied_.resize(bytes);
    return copied_.data();
  }

  // Lanes now resident on the SM, for the cost of its store port.
  uint32_t LanesOn(uint32_t sm) const { return lanes_on_sm_[sm]; }
  uint64_t ParkedPolls() const { return parked_polls_; }
  void CountParkedPolls(uint64_t polls) { parked_polls_ += polls; }

 private:
  friend class GpuThread;
  struct Block {
    uint32_t first_thread;
    uint32_t threads;
  };
  static void Entry(void* thread);
  void StartBlocks(Time when);
  void StartBlock(const Block& block, uint32_t sm, Time when);
  void ThreadEnded(GpuThread& thread);

  Engine& engine_;
  Memory& memory_;
  const CostTable& costs_;
  uint16_t node_;
  AgentKind kind_;
  Body body_;
  LaunchShape shape_;
  std::unique_ptr<StackSlab> stacks_;
  std::deque<Warp> warps_;
  std::deque<CtaGroup> blocks_;
  std::deque<GpuThread> threads_;
  std::deque<Block> waiting_;
  std::vector<uint32_t> lanes_on_sm_;
  uint32_t next_sm_ = 0;
  uint32_t running_ = 0;
  bool cancelled_ = false;
  uint64_t parked_polls_ = 0;
  uint32_t next_warp_ = 0;
  Time copies_end_;
  std::vector<uint8_t> copied_;
};

}  // namespace ringpost::sim
