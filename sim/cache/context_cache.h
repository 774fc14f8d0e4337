// context_cache.h: which QP contexts a NIC holds on chip. A model is one file that implements
// this; make_cache.cc is the one place that knows their names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace ringpost::sim {

class ContextCache {
 public:
  virtual ~ContextCache() = default;
  // Uses the entry of `key` and says whether it was there; afterwards it is.
  virtual bool Access(uint32_t key) = 0;
  virtual uint64_t Evictions() const = 0;
};

// `model` is one of infinite, lru; null for an unknown one. `entries_count` >= 1 unless infinite.
std::unique_ptr<ContextCache> MakeCache(const std::string& model, uint64_t entries_count);

}  // namespace ringpost::sim
