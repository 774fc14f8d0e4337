// configured.h: the live NIC that a configuration asks for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backends/live/live_nic.h"
#include "configs/schema/config.h"
#include "sim/cost/platform.h"
#include "sim/wire/faults.h"
#include "transport/device_access.h"
#include "transport/memory.h"
#include "transport/result.h"

namespace ringpost {

// The GPU whose kernels post.
struct GpuSide {
  MemoryProvider* memory = nullptr;  // null: host threads post
  std::function<Result<std::unique_ptr<DeviceAccess>>()> reach = {};
};

// In shared memory: a slot of this user's machine, where every process that calls it is a peer of
// the others. By UDP: a NIC that has yet to Meet() its peers. Without a GPU its memory is the
// host's.
Result<std::unique_ptr<LiveNic>> OpenConfiguredLiveNic(const config::Config& config,
                                                       const sim::Platform& platform,
                                                       const std::vector<sim::FaultRule>& faults,
                                                       uint32_t rank, const GpuSide& gpu);

}  // namespace ringpost
