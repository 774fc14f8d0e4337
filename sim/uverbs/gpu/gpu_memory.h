// gpu_memory.h: how one NIC reaches the memory of the program's GPUs: an agent in each context.
//
// One thread's, the NIC's: that is who uses the agents.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/uverbs/gpu/cuda_driver.h"
#include "transport/device_access.h"

namespace ringpost::sim::uverbs::gpu {

class GpuMemory {
 public:
  // `owner` begins the line that tells why memory of a GPU is not reached. `on_agent` is called
  // when an agent runs.
  GpuMemory(std::string owner, std::function<void()> on_agent)
      : owner_(std::move(owner)), on_agent_(std::move(on_agent)) {}

  // As service::ProcessDma::Reach: starts an agent where a GPU has none yet. False, after one line
  // to standard error, where that fails.
  bool Reach(uint64_t address, uint64_t bytes, DeviceAccess** device);

 private:
  struct Agent {
    GpuPlace place;
    std::unique_ptr<DeviceAccess> access;
  };

  const std::string owner_;
  const std::function<void()> on_agent_;
  std::vector<Agent> agents_;
  std::set<std::string> told_;
};

}  // namespace ringpost::sim::uverbs::gpu
