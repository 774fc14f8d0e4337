// fifo.h: fully associative, evicts the context that came in longest ago. A hit changes nothing.
#pragma once

#include <unordered_set>
#include <vector>

#include "sim/cache/context_cache.h"

namespace ringpost::sim {

class FifoCache final : public ContextCache {
 public:
  explicit FifoCache(uint64_t entries) : entries_(entries) {}

  Lookup Access(uint32_t key) override {
    if (!held_.insert(key).second) return Lookup::kHit;
    if (ring_.size() < entries_) {
      ring_.push_back(key);
      return Lookup::kMiss;
    }
    held_.erase(ring_[oldest_]);
    ring_[oldest_] = key;
    oldest_ = (oldest_ + 1) % entries_;
    ++evictions_;
    return Lookup::kMiss;
  }
  uint64_t Evictions() const override { return evictions_; }

 private:
  uint64_t entries_;
  uint64_t evictions_ = 0;
  uint64_t oldest_ = 0;         // in a full ring: where the next one goes
  std::vector<uint32_t> ring_;  // in order of arrival, from `oldest_` on
  std::unordered_set<uint32_t> held_;
};

}  // namespace ringpost::sim
