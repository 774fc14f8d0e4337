// context_role.h: the QP contexts that a NIC holds for one of its roles: looked up, counted and
// priced. What is kept from working meanwhile is for the caller to say.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sim/cache/context_cache.h"
#include "sim/cost/cost_table.h"
#include "sim/engine/time.h"

namespace ringpost::sim {

class ContextRole {
 public:
  ContextRole(std::unique_ptr<ContextCache> cache, const ContextCosts& costs)
      : cache_(std::move(cache)), costs_(costs) {}

  // How long it takes until the context of the QP is at hand; no time for a hit of the first level.
  Duration Find(uint32_t qpn) {
    const Lookup found = cache_->Access(qpn);
    if (found == Lookup::kMiss) {
      ++misses_;
      return costs_.miss;
    }
    ++hits_;
    if (found == Lookup::kHit) return {};
    ++second_level_hits_;
    return costs_.second_level_hit;
  }

  uint64_t Hits() const { return hits_; }  // of either level
  uint64_t SecondLevelHits() const { return second_level_hits_; }
  uint64_t Misses() const { return misses_; }
  uint64_t Evictions() const { return cache_->Evictions(); }

 private:
  std::unique_ptr<ContextCache> cache_;
  ContextCosts costs_;
  uint64_t hits_ = 0;
  uint64_t second_level_hits_ = 0;
  uint64_t misses_ = 0;
};

}  // namespace ringpost::sim
