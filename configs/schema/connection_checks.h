// connection_checks.h: what connection_scaling and host_verbs can take, and what more than two
// ranks can.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "configs/schema/checks.h"
#include "configs/schema/config.h"

namespace ringpost::config {

inline constexpr uint64_t kWarpLanes = 32;

std::optional<Conflict> ConnectionConflict(const Config& config);

// More queue pairs a peer than a NIC has, which needs `each` for one. To raise the limit is advice
// only where that may be enough.
Conflict TooManyQps(uint64_t asked, uint64_t each, uint64_t limit, const std::string& limit_key);

}  // namespace ringpost::config
