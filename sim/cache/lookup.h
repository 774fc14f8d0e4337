// lookup.h: what a cache answers when it is asked for an entry.
#pragma once

#include <cstdint>

namespace ringpost::sim {

enum class Lookup : uint8_t {
  kMiss,
  kSecondLevelHit,  // on chip, behind a smaller first level
  kHit,
};

}  // namespace ringpost::sim
