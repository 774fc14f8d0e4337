#include "backends/live/configured.h"

#include <sched.h>

#include <utility>

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
  const uint64_t threads = config.ranks + config.workload.threads;
  return CoresOfThisProcess() > threads ? Idle::kSpin : Idle::kYield;
}

}  // namespace

Result<std::unique_ptr<LiveNic>> OpenConfiguredLiveNic(const config::Config& config,
                                                       const sim::Platform&, uint32_t rank) {
  LiveNicOptions options;
  options.gpu_is_host = true;
  if (config.nic.behaviour == config::NicBehaviour::kStrict) {
    options.nic.behaviour = sim::Behaviour::kStrict;
  }
  options.service.idle = IdleOf(config);
  if (config.live.nic_core) {
    options.service.core = static_cast<int>(*config.live.nic_core + rank);
  }
  return LiveNic::OpenOn({}, options);
}

}  // namespace ringpost
