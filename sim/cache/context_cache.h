// context_cache.h: which QP contexts a NIC holds on chip. A model is one file that implements
// this; make_cache.cc is the one place that makes them by name.
//
// A cache is asked for one whole context at a time, one entry a QP, and answers where it was. So it
// knows neither parts of a context (a QP's, its CQ's and its translations are one entry), nor who
// writes one (all are dirty), nor time: what an answer costs is the node's business.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/cache/cache_spec.h"
#include "sim/cache/lookup.h"

namespace ringpost::sim {

class ContextCache {
 public:
  virtual ~ContextCache() = default;
  // Uses the entry of `key` and says where it was; afterwards it is in the first level.
  virtual Lookup Access(uint32_t key) = 0;
  // Entries that left the chip to make room for others.
  virtual uint64_t Evictions() const = 0;
  // What keeps its answers from being right, in one line; empty: nothing does.
  virtual std::string Fault() const { return ""; }
};

// Null for a spec in which MistakeIn finds one. What a model draws at random it draws from the
// stream of this name, so that each cache of a run has numbers of its own. A replay follows the
// recording of this node.
std::unique_ptr<ContextCache> MakeCache(const CacheSpec& spec, uint64_t seed,
                                        std::string_view stream, uint32_t node = 0);

}  // namespace ringpost::sim
