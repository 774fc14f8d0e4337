#include "sim/uverbs/gpu/gpu_memory.h"

#include <cstdio>
#include <utility>

#include "sim/uverbs/gpu/driver_agent.h"

namespace ringpost::sim::uverbs::gpu {

bool GpuMemory::Reach(uint64_t address, uint64_t bytes, DeviceAccess** device) {
  const std::optional<GpuPlace> place = FindGpu(address, bytes);
  if (!place) return true;
  for (const Agent& agent : agents_) {
    if (agent.place.device != place->device || agent.place.context != place->context) continue;
    *device = agent.access.get();
    return true;
  }
  auto started = StartDriverAgent(*LoadedDriver(), *place);
  if (!started.Ok()) {
    if (told_.insert(started.Message()).second) {
      std::fprintf(stderr, "ringpost: %s: no way to the memory of GPU %d: %s\n", owner_.c_str(),
                   place->device, started.Message().c_str());
    }
    return false;
  }
  agents_.push_back({*place, std::move(started.Value())});
  *device = agents_.back().access.get();
  if (on_agent_) on_agent_();
  return true;
}

}  // namespace ringpost::sim::uverbs::gpu
