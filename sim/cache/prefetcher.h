// prefetcher.h: a miss brings along the contexts of the next QP numbers, as it does where the
// memory that holds them is read in pieces of several. They come in like contexts in use.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sim/cache/context_cache.h"

namespace ringpost::sim {

class Prefetcher final : public ContextCache {
 public:
  Prefetcher(std::unique_ptr<ContextCache> cache, uint64_t entries)
      : cache_(std::move(cache)), entries_(static_cast<uint32_t>(entries)) {}

  Lookup Access(uint32_t key) override {
    const Lookup found = cache_->Access(key);
    if (found != Lookup::kMiss) return found;
    // The line of a context stays, above the 24 bits of the number.
    constexpr uint32_t kNumbers = (1u << 24) - 1;
    for (uint32_t i = 1; i <= entries_; ++i) {
      cache_->Access((key & ~kNumbers) | ((key + i) & kNumbers));
    }
    return found;
  }
  uint64_t Evictions() const override { return cache_->Evictions(); }
  std::string Fault() const override { return cache_->Fault(); }

 private:
  std::unique_ptr<ContextCache> cache_;
  uint32_t entries_;  // beside the one that was asked for
};

}  // namespace ringpost::sim
