// make_nic.h: the one switch from a configuration to a backend.
#pragma once

#include <memory>

#include "backends/live/configured.h"
#include "backends/real_time_nic.h"
#include "backends/sim/fabric.h"
#include "configs/schema/config.h"
#include "sim/cost/platform.h"
#include "transport/result.h"

namespace ringpost {

// The machine that `backend:` names, with one NIC for each rank.
std::unique_ptr<Fabric> MakeFabric(const config::Config& config, const sim::Platform& platform,
                                   bool trace, sim::PacketTap tap = {}, bool lookups = false);

// The same in real time (live, mlx5): the NIC of one rank. Where the configuration has kernels,
// `gpu` is the rank's, and outlives the NIC.
Result<std::unique_ptr<RealTimeNic>> MakeRealTimeNic(const config::Config& config,
                                                     const sim::Platform& platform, uint32_t rank,
                                                     const GpuSide& gpu = {});

}  // namespace ringpost
