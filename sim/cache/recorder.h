// recorder.h: a cache whose look-ups are written down with what they find (lookup_file.h).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/cache/context_cache.h"
#include "sim/cache/lookup_file.h"

namespace ringpost::sim {

class Recorder final : public ContextCache {
 public:
  // `rows` outlives it.
  Recorder(std::unique_ptr<ContextCache> cache, uint32_t node, CacheName name,
           std::vector<LookupRow>& rows)
      : cache_(std::move(cache)), node_(node), name_(name), rows_(rows) {}

  Lookup Access(uint32_t key) override {
    const Lookup found = cache_->Access(key);
    rows_.push_back({node_, key, name_, found});
    return found;
  }
  uint64_t Evictions() const override { return cache_->Evictions(); }
  std::string Fault() const override { return cache_->Fault(); }

 private:
  std::unique_ptr<ContextCache> cache_;
  uint32_t node_;
  CacheName name_;
  std::vector<LookupRow>& rows_;
};

}  // namespace ringpost::sim
