// address_space.h: the simulated machine's memory by address.
//
// An allocation is a Region with a home: one node's GPU memory, host memory, or a UAR page.
// Addresses are the simulation's own and the same in every run. Lines come into being when they
// are first touched, a page of 64 at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/memory/line.h"

namespace ringpost::sim {

struct Region {
  uint64_t base = 0;
  uint64_t bytes = 0;
  Home home;
  std::vector<std::unique_ptr<Line[]>> pages;

  Line& At(uint64_t address) {
    const uint64_t offset = address - base;
    std::unique_ptr<Line[]>& page = pages[offset >> kPageShift];
    if (page == nullptr) page = std::make_unique<Line[]>(kLinesPerPage);
    return page[(offset >> 6) & (kLinesPerPage - 1)];
  }

  static constexpr int kPageShift = 12;
  static constexpr uint64_t kLinesPerPage = 64;
};

class AddressSpace {
 public:
  // Zeroed memory, aligned to 64 bytes at least. `bytes` > 0.
  uint64_t Allocate(Home home, uint64_t bytes);

  // The region that holds all of [address, address + bytes), or null. Cannot wrap.
  Region* Find(uint64_t address, uint64_t bytes) {
    const uint64_t slot = address >> kSlotShift;
    if (slot >= slots_.size() || slots_[slot] == nullptr) return nullptr;
    Region* region = slots_[slot];
    const uint64_t offset = address - region->base;
    if (address < region->base || offset > region->bytes || bytes > region->bytes - offset) {
      return nullptr;
    }
    return region;
  }

  // Every line of simulated memory that exists, in address order.
  template <class F>
  void ForEachLine(F&& visit) {
    for (const auto& region : regions_) {
      for (auto& page : region->pages) {
        if (page == nullptr) continue;
        for (uint64_t i = 0; i < Region::kLinesPerPage; ++i) visit(page[i]);
      }
    }
  }

 private:
  // Each region starts at its own multiple of 4 GiB, so that a stray address finds nothing.
  static constexpr int kSlotShift = 32;
  std::vector<Region*> slots_ = {nullptr};
  std::vector<std::unique_ptr<Region>> regions_;
};

}  // namespace ringpost::sim
