// proxy_checks.h: what does not go together in a run over a proxy.
#pragma once

#include <optional>

#include "configs/schema/checks.h"
#include "configs/schema/config.h"

namespace ringpost::config {

std::optional<Conflict> ProxyConflict(const Config& config);

}  // namespace ringpost::config
