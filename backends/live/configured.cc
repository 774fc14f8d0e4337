#include "backends/live/configured.h"

#include <fmt/format.h>
#include <sched.h>

#include <utility>

#include "configs/schema/rnic.h"
#include "sim/cost/cost_table.h"
#include "sim/service/fabric_segment.h"

namespace ringpost {
namespace {

using sim::service::Idle;

uint64_t CoresOfThisProcess() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

// A thread that spins on the core that another one needs would keep it waiting for whole time
// slices of the system: there it yields.
Idle IdleOf(const config::Config& config) {
  switch (config.live.poll) {
    case config::LivePoll::kYield:
      return Idle::kYield;
    case config::LivePoll::kSleep:
      return Idle::kSleep;
    case config::LivePoll::kSpin:
      break;
  }
  const uint64_t threads =
      config.ranks + (config::RunsKernels(config) ? 0 : config.workload.threads);
  return CoresOfThisProcess() > threads ? Idle::kSpin : Idle::kYield;
}

sim::service::PaceSpec PaceOf(const config::Config& config, const sim::Platform& platform) {
  sim::service::PaceSpec pace;
  pace.costs = sim::MakeCostTable(platform, config.gpu.sm_clock_mhz);
  pace.queues_on_gpu = config.transport.placement == Placement::kGpu;
  pace.payload_on_gpu = config.workload.placement == Placement::kGpu;
  pace.doorbell_delivered = config::RunsKernels(config);
  return pace;
}

}  // namespace

Result<std::unique_ptr<LiveNic>> OpenConfiguredLiveNic(const config::Config& config,
                                                       const sim::Platform& platform,
                                                       const std::vector<sim::FaultRule>& faults,
                                                       uint32_t rank, const GpuSide& gpu) {
  LiveNicOptions options;
  options.nic = config::RnicConfigOf(config.nic);
  options.memory = gpu.memory;
  options.gpu_kernels = gpu.memory != nullptr;
  options.gpu_is_host = !options.gpu_kernels;
  options.reach_gpu = gpu.reach;
  options.service.idle = IdleOf(config);
  if (config.live.nic_core) {
    options.service.core = static_cast<int>(*config.live.nic_core + rank);
  }
  if (config.live.pace == config::LivePace::kPlatform) {
    options.service.overlay.pace = PaceOf(config, platform);
  }
  options.service.overlay.faults = {faults, rank, config.seed};
  if (config.live.wire == config::LiveWire::kSharedMemory) {
    // Not the fabric of `ringpost exec`, whose devices have the same LIDs.
    return LiveNic::OpenOn({.name = sim::service::FabricSegment::NameOfUser() + "-live"}, options);
  }
  if (platform.link_layer != "roce") {
    return Error{
        fmt::format("live.wire: udp carries RoCEv2, and the link of platform {} is "
                    "InfiniBand; use shared_memory, or a platform with link_layer: roce",
                    config.platform)};
  }
  options.lid = static_cast<uint16_t>(rank + 1);
  return LiveNic::OpenUdp({config.live.address, 0}, options);
}

}  // namespace ringpost
