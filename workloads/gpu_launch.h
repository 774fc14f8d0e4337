// gpu_launch.h: a workload's arguments and results between the host and its kernel on a GPU.
//
// Arguments are taken when the launch is made; results are written to where the pointers say when
// it finishes. A failure on the GPU comes to `outcome`.
#pragma once

#include <memory>
#include <vector>

#include "workloads/gpu.h"
#include "workloads/machine.h"

namespace ringpost::workloads {

std::unique_ptr<GpuLaunch> LaunchPutLatency(Gpu& gpu, const GpuGrid& grid,
                                            const PutLatencyArguments& arguments,
                                            PutLatencySamples* samples, Outcome* outcome);
std::unique_ptr<GpuLaunch> LaunchRoundTrip(Gpu& gpu, const GpuGrid& grid,
                                           const RoundTripArguments& arguments, Samples* samples,
                                           Outcome* outcome);
std::unique_ptr<GpuLaunch> LaunchMessageRate(Gpu& gpu, const GpuGrid& grid,
                                             const std::vector<MessageRateArguments>& arguments,
                                             std::vector<ThreadRate>* rates, Outcome* outcome);

}  // namespace ringpost::workloads
