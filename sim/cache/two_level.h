// two_level.h: a small fully associative level in front of a larger one in sets.
#pragma once

#include <optional>

#include "sim/cache/context_cache.h"
#include "sim/cache/lru_sets.h"

namespace ringpost::sim {

enum class Inclusion : uint8_t {
  // The second level holds all that the first does. It does not see hits of the first, so that a
  // context in constant use may become its oldest one, and then leaves both.
  kInclusive,
  // A context is in one of the two: the second holds what the first had no room for.
  kExclusive,
};

class TwoLevelCache final : public ContextCache {
 public:
  TwoLevelCache(uint64_t first_entries, const LruSets& second, Inclusion inclusion)
      : first_(first_entries, first_entries, SetHash::kModulo),
        second_(second),
        inclusion_(inclusion) {}

  Lookup Access(uint32_t key) override {
    if (first_.Use(key)) return Lookup::kHit;
    return inclusion_ == Inclusion::kInclusive ? AccessInclusive(key) : AccessExclusive(key);
  }
  uint64_t Evictions() const override { return evictions_; }

 private:
  Lookup AccessInclusive(uint32_t key) {
    const bool found = second_.Use(key);
    if (!found) {
      if (const std::optional<uint32_t> evicted = second_.Insert(key)) {
        first_.Remove(*evicted);
        ++evictions_;
      }
    }
    first_.Insert(key);  // what that pushes out is still in the second level
    return found ? Lookup::kSecondLevelHit : Lookup::kMiss;
  }

  Lookup AccessExclusive(uint32_t key) {
    const bool found = second_.Remove(key);
    if (const std::optional<uint32_t> moved = first_.Insert(key)) {
      if (second_.Insert(*moved)) ++evictions_;
    }
    return found ? Lookup::kSecondLevelHit : Lookup::kMiss;
  }

  LruSets first_;
  LruSets second_;
  Inclusion inclusion_;
  uint64_t evictions_ = 0;
};

}  // namespace ringpost::sim
