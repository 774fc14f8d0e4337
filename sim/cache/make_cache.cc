#include "sim/cache/cache_spec.h"
#include "sim/cache/context_cache.h"
#include "sim/cache/fifo.h"
#include "sim/cache/infinite.h"
#include "sim/cache/lru.h"
#include "sim/cache/lru_sets.h"
#include "sim/cache/random.h"
#include "sim/cache/set_associative.h"
#include "sim/cache/two_level.h"
#include "sim/engine/random.h"

namespace ringpost::sim {
namespace {

LruSets SetsOf(const CacheSpec& spec) {
  const SetHash hash = spec.hash == "mix" ? SetHash::kMix : SetHash::kModulo;
  return LruSets(spec.entries_count, spec.ways_count, hash);
}

Inclusion InclusionOf(const CacheSpec& spec) {
  return spec.inclusion == "inclusive" ? Inclusion::kInclusive : Inclusion::kExclusive;
}

}  // namespace

std::unique_ptr<ContextCache> MakeCache(const CacheSpec& spec, uint64_t seed,
                                        std::string_view stream) {
  if (MistakeIn(spec)) return nullptr;
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
  return nullptr;
}

}  // namespace ringpost::sim
