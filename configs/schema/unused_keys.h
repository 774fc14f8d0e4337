// unused_keys.h: keys of `workload` that a kind does not look at. Set to anything but their
// default they are refused: who set them expects something of them.
#pragma once

#include <optional>

#include "configs/schema/checks.h"

namespace ringpost::config {

std::optional<Conflict> UnusedKeyConflict(const Config& config);

}  // namespace ringpost::config
