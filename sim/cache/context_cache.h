// context_cache.h: which QP contexts a NIC holds on chip. A model is one file that implements
// this; make_cache.cc is the one place that makes them by name.
//
// A cache is asked for one whole context at a time, one entry a QP, and answers where it was. So it
// knows neither parts of a context (a QP's, its CQ's and its translations are one entry), nor who
// writes one (nothing is dirty), nor time: what an answer costs is the node's business.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "sim/cache/cache_spec.h"

namespace ringpost::sim {

enum class Lookup : uint8_t {
  kMiss,
  kSecondLevelHit,  // on chip, behind a smaller first level
  kHit,
};

class ContextCache {
 public:
  virtual ~ContextCache() = default;
  // Uses the entry of `key` and says where it was; afterwards it is in the first level.
  virtual Lookup Access(uint32_t key) = 0;
  // Entries that left the chip to make room for others.
  virtual uint64_t Evictions() const = 0;
};

// Null for a spec in which MistakeIn finds one. What a model draws at random it draws from the
// stream of this name, so that each cache of a run has numbers of its own.
std::unique_ptr<ContextCache> MakeCache(const CacheSpec& spec, uint64_t seed,
                                        std::string_view stream);

}  // namespace ringpost::sim
