// gpu_agent.h: DeviceAccess to the memory of a CUDA device, by a resident warp.
//
// Free of CUDA's headers; the library exists where the CUDA Toolkit does. Pinned host memory comes
// from `memory`, which outlives the agent and frees it. No function makes a call that waits for
// kernels of others.
#pragma once

#include <memory>

#include "transport/device_access.h"
#include "transport/memory.h"
#include "transport/result.h"

namespace ringpost {

Result<std::unique_ptr<DeviceAccess>> StartGpuAgent(int device, MemoryProvider& memory);

}  // namespace ringpost
