// config_hash.h: one number that tells two configurations apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "configs/schema/config.h"
#include "sim/cost/platform.h"

namespace ringpost::config {

// FNV-1a, 64 bits: the same on every machine and in every version.
uint64_t HashOf(std::string_view text);

// Covers every effective value and every number of the platform; comments, the order of keys and
// the place where a value was set do not matter. 16 hexadecimal digits.
std::string ConfigHash(const Effective& effective, const sim::Platform& platform);

}  // namespace ringpost::config
