#include <utility>

#include "sim/cache/cache_spec.h"
#include "sim/cache/context_cache.h"
#include "sim/cache/fifo.h"
#include "sim/cache/infinite.h"
#include "sim/cache/lru.h"
#include "sim/cache/lru_sets.h"
#include "sim/cache/prefetcher.h"
#include "sim/cache/random.h"
#include "sim/cache/replay.h"
#include "sim/cache/set_associative.h"
#include "sim/cache/two_level.h"
#include "sim/engine/random.h"

namespace ringpost::sim {
namespace {

LruSets SetsOf(const CacheSpec& spec) {
  return LruSets(spec.entries_count, spec.ways_count, SetHashOf(spec));
}

Inclusion InclusionOf(const CacheSpec& spec) {
  return spec.inclusion == "inclusive" ? Inclusion::kInclusive : Inclusion::kExclusive;
}

std::unique_ptr<ContextCache> MakeModel(const CacheSpec& spec, uint64_t seed,
                                        std::string_view stream, uint32_t node) {
  const uint64_t entries = spec.entries_count;
  if (spec.model == "infinite") return std::make_unique<InfiniteCache>();
  if (spec.model == "lru") return std::make_unique<LruCache>(entries);
  if (spec.model == "fifo") return std::make_unique<FifoCache>(entries);
  if (spec.model == "random") return std::make_unique<RandomCache>(entries, Rng(seed, stream));
  if (spec.model == "set_associative") {
    return std::make_unique<SetAssociativeCache>(SetsOf(spec));
  }
  if (spec.model == "two_level") {
    return std::make_unique<TwoLevelCache>(spec.first_level_entries_count, SetsOf(spec),
                                           InclusionOf(spec));
  }
  if (spec.model == "replay") {
    const Unrecorded unrecorded = spec.unrecorded == "hit"    ? Unrecorded::kHit
                                  : spec.unrecorded == "miss" ? Unrecorded::kMiss
                                                              : Unrecorded::kRefuse;
    return std::make_unique<ReplayCache>(spec.file, spec.recorded, node, unrecorded);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<ContextCache> MakeCache(const CacheSpec& spec, uint64_t seed,
                                        std::string_view stream, uint32_t node) {
  if (MistakeIn(spec)) return nullptr;
  std::unique_ptr<ContextCache> cache = MakeModel(spec, seed, stream, node);
  if (spec.prefetched_entries_count == 0) return cache;
  return std::make_unique<Prefetcher>(std::move(cache), spec.prefetched_entries_count);
}

}  // namespace ringpost::sim
