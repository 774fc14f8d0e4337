// caller_kernels.cuh: from a variant to a kernel, for the files that build some of them.
#pragma once

#include <string_view>

#include "transport/cuda_port.cuh"
#include "transport/ordering.h"
#include "workloads/caller_kernels.h"

namespace ringpost::workloads {

// Kernels of four blocks an SM, as the published callers: at most 64 registers. `Send` has
// kAbsent, and a static Send(job, block, message).
template <CallerWork kWork, uint32_t kValues, class Send>
__global__ void __launch_bounds__(kCallerBlock, kWork == CallerWork::kCompute ? 8 : 4)
    Caller(const __grid_constant__ CallerJob job) {
  const uint32_t thread = blockIdx.x * kCallerBlock + threadIdx.x;
  const uint32_t messages = Send::kAbsent ? 0 : job.messages;
  CallerBody<kWork, kValues>(job, thread, gridDim.x * kCallerBlock, messages,
                             [&](uint32_t message) {
                               if (threadIdx.x == 0) Send::Send(job, blockIdx.x, message);
                             });
}

template <CallerWork kWork, class Send>
CallerKernel CallerOf(uint32_t values) {
  switch (values) {
    case 8:
      return &Caller<kWork, 8, Send>;
    case 16:
      return &Caller<kWork, 16, Send>;
    case 32:
      return &Caller<kWork, 32, Send>;
    default:
      return nullptr;
  }
}

template <class Send>
CallerKernel CallerOf(const CallerVariant& variant) {
  return variant.work == CallerWork::kCompute
             ? CallerOf<CallerWork::kCompute, Send>(variant.live_values)
             : CallerOf<CallerWork::kStream, Send>(variant.live_values);
}

// `Sends<Ordering, kWait>` is a Send.
template <template <class, bool> class Sends>
CallerKernel CallerThatSends(const CallerVariant& variant, std::string_view ordering) {
  const auto with = [&]<class Ordering>() {
    return variant.code == CallerCode::kSendWait ? CallerOf<Sends<Ordering, true>>(variant)
                                                 : CallerOf<Sends<Ordering, false>>(variant);
  };
  if (ordering == OrderGpuFence::kName) return with.template operator()<OrderGpuFence>();
  if (ordering == OrderSystemRelease::kName) return with.template operator()<OrderSystemRelease>();
  if (ordering == OrderSystemFence::kName) return with.template operator()<OrderSystemFence>();
  return nullptr;
}

}  // namespace ringpost::workloads
