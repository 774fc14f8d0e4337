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

inline constexpr int kPageShift = 12;
inline constexpr uint64_t kLinesPerPage = 64;

// Gives out pages of lines from pieces as large as the host's huge pages: the lines of a simulation
// are touched in no order, and each would else need an entry of the TLB.
class LinePool {
 public:
  LinePool() = default;
  ~LinePool();
  LinePool(const LinePool&) = delete;
  LinePool& operator=(const LinePool&) = delete;

  Line* TakePage();

 private:
  static constexpr size_t kPieceBytes = 2u << 20;
  static constexpr size_t kPagesPerPiece = kPieceBytes / (kLinesPerPage * sizeof(Line));
  std::vector<void*> pieces_;
  size_t used_ = kPagesPerPiece;  // pages of the last piece
};

struct Region {
  uint64_t base = 0;
  uint64_t bytes = 0;
  Home home;
  LinePool* pool = nullptr;
  std::vector<Line*> pages;

  Line& At(uint64_t address) {
    const uint64_t offset = address - base;
    Line*& page = pages[offset >> kPageShift];
    if (page == nullptr) [[unlikely]]
      page = pool->TakePage();
    return page[(offset >> 6) & (kLinesPerPage - 1)];
  }
};

class AddressSpace {
 public:
  // Zeroed memory, aligned to 64 bytes at least. `bytes` > 0.
  uint64_t Allocate(Home home, uint64_t bytes);

  // The region that holds all of [address, address + bytes), or null. Cannot wrap.
  Region* Find(uint64_t address, uint64_t bytes) const {
    const uint64_t slot = address >> kSlotShift;
    if (slot >= slots_.size() || slots_[slot] == nullptr) return nullptr;
    Region* region = slots_[slot];
    const uint64_t offset = address - region->base;
    // A slot belongs to one region, which starts at one, so the address is not before it.
    if (offset > region->bytes || bytes > region->bytes - offset) return nullptr;
    return region;
  }

  void Prefetch(uint64_t address) const {
    const uint64_t slot = address >> kSlotShift;
    const Region* region = slot < slots_.size() ? slots_[slot] : nullptr;
    if (region == nullptr || address - region->base >= region->bytes) return;
    const Line* page = region->pages[(address - region->base) >> kPageShift];
    if (page == nullptr) return;
    const Line& line = page[(address >> 6) & (kLinesPerPage - 1)];
    __builtin_prefetch(line.data, 1);
    __builtin_prefetch(&line.newest, 1);
  }

 private:
  // Each region starts at its own multiple of 4 GiB, so that a stray address finds nothing.
  static constexpr int kSlotShift = 32;
  LinePool pool_;
  std::vector<Region*> slots_ = {nullptr};
  std::vector<std::unique_ptr<Region>> regions_;
};

}  // namespace ringpost::sim
