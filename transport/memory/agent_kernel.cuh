// agent_kernel.cuh: the agent as a kernel of one warp.
//
// Its name is C's, so that a driver finds it in an image.
#pragma once

#include <cstdint>

#include "transport/cuda_port.cuh"
#include "transport/memory/agent_loop.h"

extern "C" __global__ void RingpostAgent(ringpost::AgentMailbox* mailbox, uint64_t done,
                                         uint64_t lease_ps) {
  ringpost::CudaPort port;
  ringpost::AgentLoop<ringpost::CudaPort>(port, mailbox).Run(done, lease_ps);
}
