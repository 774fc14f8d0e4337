// set_associative.h: each context may be in one set alone, which evicts the one used longest ago.
#pragma once

#include "sim/cache/context_cache.h"
#include "sim/cache/lru_sets.h"

namespace ringpost::sim {

class SetAssociativeCache final : public ContextCache {
 public:
  explicit SetAssociativeCache(const LruSets& sets) : sets_(sets) {}

  Lookup Access(uint32_t key) override {
    if (sets_.Use(key)) return Lookup::kHit;
    if (sets_.Insert(key)) ++evictions_;
    return Lookup::kMiss;
  }
  uint64_t Evictions() const override { return evictions_; }

 private:
  LruSets sets_;
  uint64_t evictions_ = 0;
};

}  // namespace ringpost::sim
