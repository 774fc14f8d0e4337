#include "sim/memory/address_space.h"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>

#include "sim/engine/check.h"

namespace ringpost::sim {

LinePool::~LinePool() {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const size_t pages = i + 1 == pieces_.size() ? used_ : kPagesPerPiece;
    std::destroy_n(static_cast<Line*>(pieces_[i]), pages * kLinesPerPage);
    std::free(pieces_[i]);
  }
}

Line* LinePool::TakePage() {
  if (used_ == kPagesPerPiece) {
    void* piece = std::aligned_alloc(kPieceBytes, kPieceBytes);
    RINGPOST_CHECK(piece != nullptr, "out of memory for simulated memory");
    madvise(piece, kPieceBytes, MADV_HUGEPAGE);  // a wish: without it all works as well
    pieces_.push_back(piece);
    used_ = 0;
  }
  Line* page = static_cast<Line*>(pieces_.back()) + used_++ * kLinesPerPage;
  std::uninitialized_value_construct_n(page, kLinesPerPage);
  return page;
}

uint64_t AddressSpace::Allocate(Home home, uint64_t bytes) {
  RINGPOST_CHECK(bytes > 0, "an empty allocation");
  auto region = std::make_unique<Region>();
  region->base = static_cast<uint64_t>(slots_.size()) << kSlotShift;
  region->bytes = bytes;
  region->home = home;
  region->pool = &pool_;
  region->pages.resize((bytes + (1ull << kPageShift) - 1) >> kPageShift);
  const uint64_t slots = (bytes >> kSlotShift) + 1;
  slots_.insert(slots_.end(), slots, region.get());
  regions_.push_back(std::move(region));
  return regions_.back()->base;
}

}  // namespace ringpost::sim
