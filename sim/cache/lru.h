// lru.h: fully associative, evicts the least recently used context.
#pragma once

#include <list>
#include <unordered_map>

#include "sim/cache/context_cache.h"

namespace ringpost::sim {

class LruCache final : public ContextCache {
 public:
  explicit LruCache(uint64_t entries) : entries_(entries) {}

  Lookup Access(uint32_t key) override {
    const auto found = where_.find(key);
    if (found != where_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return Lookup::kHit;
    }
    if (order_.size() == entries_) {
      where_.erase(order_.back());
      order_.pop_back();
      ++evictions_;
    }
    order_.push_front(key);
    where_[key] = order_.begin();
    return Lookup::kMiss;
  }
  uint64_t Evictions() const override { return evictions_; }

 private:
  uint64_t entries_;
  uint64_t evictions_ = 0;
  std::list<uint32_t> order_;  // most recently used first
  std::unordered_map<uint32_t, std::list<uint32_t>::iterator> where_;
};

}  // namespace ringpost::sim
