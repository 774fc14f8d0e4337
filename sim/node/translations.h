// translations.h: what a NIC holds on chip of its translation tables: entries of keys (MPT) and of
// pages (MTT). An access looks up its key, and then all of its pages at once.
//
// Each is a cache of its own, or part of another one's: then its keys are told from QP numbers by
// their upper bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "sim/engine/time.h"
#include "sim/node/held_contexts.h"

namespace ringpost::sim {

// Above the lines of contexts.
constexpr uint32_t kMptKeys = 0xfeu << 24;
constexpr uint32_t kMttKeys = 0xffu << 24;

class Translations {
 public:
  struct Cache {
    std::shared_ptr<HeldContexts> held;  // null: everything
    uint32_t first_key = 0;              // of its entries in there
  };

  // `page_bytes` is a power of two, and such that pages make no more keys than there are.
  Translations(Cache mpt, Cache mtt, uint64_t page_bytes)
      : mpt_{std::move(mpt)}, mtt_{std::move(mtt)}, page_bytes_(page_bytes) {}

  // How long an access waits for them, from `now` on.
  Duration Find(Time now, uint32_t key, uint64_t address, uint64_t bytes) {
    const Duration wait = mpt_.Find(now, (key >> 8) & 0xffff);
    if (mtt_.cache.held == nullptr) return wait;
    Duration pages;
    const uint64_t last = (address + std::max<uint64_t>(1, bytes) - 1) / page_bytes_;
    for (uint64_t page = address / page_bytes_; page <= last; ++page) {
      pages = std::max(pages, mtt_.Find(now + wait, static_cast<uint32_t>(page)));
    }
    return wait + pages;
  }

  uint64_t MptHits() const { return mpt_.hits; }
  uint64_t MptMisses() const { return mpt_.misses; }
  uint64_t MttHits() const { return mtt_.hits; }
  uint64_t MttMisses() const { return mtt_.misses; }

 private:
  struct Table {
    Cache cache;
    uint64_t hits = 0;
    uint64_t misses = 0;

    Duration Find(Time now, uint32_t entry) {
      if (cache.held == nullptr) return {};
      const HeldContexts::Found found = cache.held->Find(now, cache.first_key | entry, 1);
      ++(found.where == Lookup::kMiss ? misses : hits);
      return found.wait;
    }
  };

  Table mpt_, mtt_;
  uint64_t page_bytes_;
};

}  // namespace ringpost::sim
