// moe_checks.h: what moe_dispatch can take.
#pragma once

#include <optional>

#include "configs/schema/checks.h"
#include "configs/schema/config.h"

namespace ringpost::config {

std::optional<Conflict> MoeConflict(const Config& config);

}  // namespace ringpost::config
