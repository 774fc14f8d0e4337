#include "workloads/caller_send.cuh"

#include "transport/cuda_port.cuh"
#include "transport/ordering.h"

namespace ringpost::workloads {

template <class Ordering, bool kWait>
__device__ __noinline__ void SendSeparately(const CallerJob& job, uint32_t block,
                                            uint32_t message) {
  CudaPort port;
  CallerSend<CudaPort, Ordering, kWait>(port, job, block, message);
}

#define RINGPOST_SEND(ORDERING)                                                                   \
  template __device__ void SendSeparately<ORDERING, false>(const CallerJob&, uint32_t, uint32_t); \
  template __device__ void SendSeparately<ORDERING, true>(const CallerJob&, uint32_t, uint32_t);

RINGPOST_SEND(OrderGpuFence)
RINGPOST_SEND(OrderSystemRelease)
RINGPOST_SEND(OrderSystemFence)

}  // namespace ringpost::workloads
