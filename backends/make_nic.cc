#include "backends/make_nic.h"

#include <utility>

#include "backends/mlx5/configured.h"
#include "configs/schema/fault_rules.h"
#include "configs/schema/rnic.h"

namespace ringpost {
std::unique_ptr<Fabric> MakeFabric(const config::Config& config, const sim::Platform& platform,
                                   bool trace, sim::PacketTap tap, bool lookups) {
  FabricOptions options;
  options.nodes = static_cast<uint32_t>(config.ranks);
  options.seed = config.seed;
  options.visibility = static_cast<sim::VisibilityMode>(config.visibility.mode);
  options.checker = config.visibility.checker == config::Switch::kOn;
  options.nic_reads_l2 = config.visibility.reads == config::NicReads::kL2;
  options.sm_clock_mhz = config.gpu.sm_clock_mhz;
  options.run_length = static_cast<uint32_t>(config.nic.run_length);
  options.nic = config::RnicConfigOf(config.nic);
  options.stack_bytes = config.engine.stack_size_bytes;
  options.stack_memory_bytes = config.engine.stack_memory_bytes;
  options.host_clock = config.host.clock_state == config::ClockState::kCold ? sim::HostClock::kCold
                                                                            : sim::HostClock::kWarm;
  options.trace = trace;
  options.lookups = lookups;
  options.tap = std::move(tap);
  options.faults = config::FaultRulesOf(config.faults);
  options.operations = config.operations;
  return std::make_unique<Fabric>(platform, options);
}

Result<std::unique_ptr<RealTimeNic>> MakeRealTimeNic(const config::Config& config,
                                                     const sim::Platform& platform, uint32_t rank,
                                                     const GpuSide& gpu) {
  const auto any = [](auto opened) -> Result<std::unique_ptr<RealTimeNic>> {
    if (!opened.Ok()) return Error{opened.Message()};
    return std::unique_ptr<RealTimeNic>(std::move(opened.Value()));
  };
  if (config.backend == config::Backend::kMlx5) return any(OpenConfiguredMlx5Nic(config, rank));
  return any(
      OpenConfiguredLiveNic(config, platform, config::FaultRulesOf(config.faults), rank, gpu));
}

}  // namespace ringpost
