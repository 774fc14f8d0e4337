// replay.h: caches of every model, and what they make of a sequence of accesses.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sim/cache/cache_spec.h"
#include "sim/cache/context_cache.h"
#include "tests/seed.h"

namespace ringpost::sim {

struct Counts {
  uint64_t hits = 0;  // of the first level
  uint64_t second_level_hits = 0;
  uint64_t misses = 0;

  uint64_t AllHits() const { return hits + second_level_hits; }
  bool operator==(const Counts&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.hits << " hits, " << counts.second_level_hits << " of the second level, "
             << counts.misses << " misses";
}

inline std::ostream& operator<<(std::ostream& out, Lookup lookup) {
  constexpr const char* kNames[] = {"miss", "second-level hit", "hit"};
  return out << kNames[static_cast<int>(lookup)];
}

using Accesses = std::vector<uint32_t>;

inline Counts Replay(ContextCache& cache, const Accesses& accesses) {
  uint64_t counts[3] = {};
  for (const uint32_t key : accesses) ++counts[static_cast<int>(cache.Access(key))];
  return {counts[2], counts[1], counts[0]};
}

// `keys` from 0 on, one after the other, `passes` times over.
inline Accesses Cyclic(uint32_t keys, uint32_t passes) {
  Accesses accesses;
  for (uint32_t i = 0; i < keys * passes; ++i) accesses.push_back(i % keys);
  return accesses;
}

inline CacheSpec Sets(uint64_t entries, uint64_t ways, const std::string& hash) {
  return {.model = "set_associative", .entries_count = entries, .ways_count = ways, .hash = hash};
}

// The second level is one set unless `ways` says otherwise.
inline CacheSpec TwoLevels(uint64_t first, uint64_t second, const std::string& inclusion,
                           uint64_t ways = 0) {
  return {.model = "two_level",
          .entries_count = second,
          .ways_count = ways == 0 ? second : ways,
          .hash = "mix",
          .first_level_entries_count = first,
          .inclusion = inclusion};
}

// A spec of each model that evicts, with a capacity of `entries` contexts; a multiple of 8.
inline std::vector<CacheSpec> FiniteCaches(uint64_t entries) {
  return {{.model = "lru", .entries_count = entries},
          {.model = "fifo", .entries_count = entries},
          {.model = "random", .entries_count = entries},
          Sets(entries, 4, "modulo"),
          Sets(entries, 4, "mix"),
          TwoLevels(entries / 8, entries, "inclusive", 4),
          TwoLevels(entries / 4, entries - entries / 4, "exclusive", entries / 4)};
}

inline std::string NameOf(const CacheSpec& spec) {
  return spec.model + " " + spec.hash + " " + spec.inclusion;
}

inline std::unique_ptr<ContextCache> Make(const CacheSpec& spec) {
  return MakeCache(spec, TestSeed(), "test");
}

}  // namespace ringpost::sim
