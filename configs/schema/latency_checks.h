// latency_checks.h: what put_latency and round_trip cannot do, and what they alone can.
#pragma once

#include <optional>

#include "configs/schema/checks.h"
#include "configs/schema/config.h"

namespace ringpost::config {

std::optional<Conflict> LatencyConflict(const Config& config);

}  // namespace ringpost::config
