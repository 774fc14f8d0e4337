// driver_agent.h: DeviceAccess to the memory of a GPU through the CUDA driver of the program, by a
// resident warp in the program's own context (transport/memory/agent_client.h).
#pragma once

#include <memory>

#include "sim/uverbs/gpu/cuda_driver.h"
#include "transport/device_access.h"
#include "transport/result.h"

namespace ringpost::sim::uverbs::gpu {

// The thread that calls uses it. Leaves that thread's current context as it is.
Result<std::unique_ptr<DeviceAccess>> StartDriverAgent(const CudaDriver& driver,
                                                       const GpuPlace& place);

}  // namespace ringpost::sim::uverbs::gpu
