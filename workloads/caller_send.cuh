// caller_send.cuh: a put as a function that is compiled apart from the kernels that call it.
#pragma once

#include "workloads/callers.h"

namespace ringpost::workloads {

template <class Ordering, bool kWait>
__device__ __noinline__ void SendSeparately(const CallerJob& job, uint32_t block, uint32_t message);

}  // namespace ringpost::workloads
