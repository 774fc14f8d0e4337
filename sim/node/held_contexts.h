// held_contexts.h: a context cache as the stages of a NIC meet it: which of its banks answers, how
// many misses may be under way, and what writing back an evicted context adds. Two roles may share
// one, of which each context then takes several lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/cache/cache_spec.h"
#include "sim/cache/context_cache.h"
#include "sim/cache/lru_sets.h"
#include "sim/cost/cost_table.h"
#include "sim/engine/time.h"
#include "sim/node/station.h"

namespace ringpost::sim {

class HeldContexts {
 public:
  struct Found {
    Lookup where = Lookup::kHit;  // the line that was furthest away
    Duration wait;                // until all are at hand
  };

  HeldContexts(std::unique_ptr<ContextCache> cache, const CacheSpec& spec,
               const ContextCosts& costs)
      : cache_(std::move(cache)),
        costs_(costs),
        hash_(SetHashOf(spec)),
        sets_(spec.ways_count == 0 ? 1 : spec.entries_count / spec.ways_count),
        banks_(spec.banks_count),
        reads_(spec.outstanding_misses_count) {}

  // Asks for `lines` lines at once, from `key` on. Banks and reads serve in the order of calls. No
  // time for hits of the first level, where there are no banks.
  Found Find(Time now, uint32_t key, uint32_t lines) {
    if (!banks_.empty() || !reads_.empty() || costs_.write_back.ps != 0) [[unlikely]] {
      return FindTimed(now, key, lines);
    }
    Lookup where = cache_->Access(key);
    for (uint32_t line = 1; line < lines; ++line) {
      where = std::min(where, cache_->Access(key + (line << 24)));
    }
    if (where == Lookup::kHit) return {};
    return {where, where == Lookup::kMiss ? costs_.miss : costs_.second_level_hit};
  }

  uint64_t Evictions() const { return cache_->Evictions(); }
  std::string Fault() const { return cache_->Fault(); }

 private:
  Found FindTimed(Time now, uint32_t key, uint32_t lines) {
    Found found;
    for (uint32_t line = 0; line < lines; ++line) {
      const uint32_t its = key + (line << 24);
      Time at = now;
      if (!banks_.empty()) {
        at = banks_[SetIndex(its, hash_, sets_) % banks_.size()].Serve(now, costs_.bank_service);
      }
      const uint64_t before = cache_->Evictions();
      const Lookup where = cache_->Access(its);
      if (where == Lookup::kMiss) at = Read(at, cache_->Evictions() != before);
      if (where == Lookup::kSecondLevelHit) at += costs_.second_level_hit;
      found.where = std::min(found.where, where);
      found.wait = std::max(found.wait, at - now);
    }
    return found;
  }

  // When a context is there that is asked for from `at` on.
  Time Read(Time at, bool evicts) {
    Duration takes = costs_.miss;
    if (evicts) takes = takes + costs_.write_back;
    if (reads_.empty()) return at + takes;
    Time& free = *std::min_element(reads_.begin(), reads_.end());
    free = Later(at, free) + takes;
    return free;
  }

  std::unique_ptr<ContextCache> cache_;
  ContextCosts costs_;
  SetHash hash_;
  uint64_t sets_;
  std::vector<Station> banks_;  // none: each look-up has one of its own
  std::vector<Time> reads_;     // when each is free again; none: as many as are asked for
};

}  // namespace ringpost::sim
