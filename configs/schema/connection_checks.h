// connection_checks.h: what connection_scaling and host_verbs can take, and what more than two
// ranks can.
#pragma once

#include <cstdint>
#include <optional>

#include "configs/schema/checks.h"
#include "configs/schema/config.h"

namespace ringpost::config {

inline constexpr uint64_t kWarpLanes = 32;

std::optional<Conflict> ConnectionConflict(const Config& config);

}  // namespace ringpost::config
