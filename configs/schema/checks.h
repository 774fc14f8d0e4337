// checks.h: what must hold between keys, beyond the range of each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/schema/config.h"
#include "configs/schema/config_error.h"

namespace ringpost::config {

// `keys` are those that take part, the most likely culprit first.
struct Conflict {
  std::vector<std::string> keys;
  ValueError error;
};

// The first conflict within a configuration.
std::optional<Conflict> FindConflict(const Config& config);

}  // namespace ringpost::config
