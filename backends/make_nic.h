// make_nic.h: the one switch from a configuration to a backend.
#pragma once

#include <memory>

#include "backends/sim/fabric.h"
#include "configs/schema/config.h"
#include "sim/cost/platform.h"
#include "transport/nic.h"
#include "transport/result.h"

namespace ringpost {

// The machine that `backend:` names, with one NIC for each rank.
std::unique_ptr<Fabric> MakeFabric(const config::Config& config, const sim::Platform& platform,
                                   bool trace, sim::PacketTap tap = {});

// The same in real time: this process's NIC.
Result<std::unique_ptr<Nic>> MakeLiveNic(const config::Config& config);

}  // namespace ringpost
