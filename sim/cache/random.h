// random.h: fully associative, evicts any context with equal chance.
#pragma once

#include <unordered_set>
#include <vector>

#include "sim/cache/context_cache.h"
#include "sim/engine/random.h"

namespace ringpost::sim {

class RandomCache final : public ContextCache {
 public:
  RandomCache(uint64_t entries, const Rng& random) : entries_(entries), random_(random) {}

  Lookup Access(uint32_t key) override {
    if (!held_.insert(key).second) return Lookup::kHit;
    if (slots_.size() < entries_) {
      slots_.push_back(key);
      return Lookup::kMiss;
    }
    uint32_t& victim = slots_[random_.Below(entries_)];
    held_.erase(victim);
    victim = key;
    ++evictions_;
    return Lookup::kMiss;
  }
  uint64_t Evictions() const override { return evictions_; }

 private:
  uint64_t entries_;
  uint64_t evictions_ = 0;
  Rng random_;
  std::vector<uint32_t> slots_;
  std::unordered_set<uint32_t> held_;  // the same keys, to find one; its order is not used
};

}  // namespace ringpost::sim
