// context_role.h: the QP contexts that a NIC holds for one of its roles: looked up, counted and
// priced. What is kept from working meanwhile is for the caller to say.
//
// Two roles may share a cache of lines, of which a context has as many as the caller says; then
// each has keys of its own. All lines of a context are asked for at once, so that one miss or
// several take the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "sim/cache/context_cache.h"
#include "sim/cost/cost_table.h"
#include "sim/engine/time.h"

namespace ringpost::sim {

class ContextRole {
 public:
  ContextRole(std::shared_ptr<ContextCache> cache, const ContextCosts& costs,
              uint32_t first_line = 0)
      : cache_(std::move(cache)), costs_(costs), first_line_(first_line) {}

  // How long it takes until the context of the QP is at hand; no time for a hit of the first level.
  Duration Find(uint32_t qpn, uint32_t lines = 1) {
    // QPNs have 24 bits; the line is told apart by the other eight.
    Lookup found = cache_->Access(qpn | first_line_ << 24);
    for (uint32_t line = 1; line < lines; ++line) {
      found = std::min(found, cache_->Access(qpn | (first_line_ + line) << 24));
    }
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
  uint64_t Evictions() const { return cache_->Evictions(); }  // of a shared cache: of both roles

 private:
  std::shared_ptr<ContextCache> cache_;
  ContextCosts costs_;
  uint32_t first_line_;  // of this role's, where roles share the cache
  uint64_t hits_ = 0;
  uint64_t second_level_hits_ = 0;
  uint64_t misses_ = 0;
};

}  // namespace ringpost::sim
