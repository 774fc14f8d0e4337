#include "sim/memory/address_space.h"

#include "sim/engine/check.h"

namespace ringpost::sim {

uint64_t AddressSpace::Allocate(Home home, uint64_t bytes) {
  RINGPOST_CHECK(bytes > 0, "an empty allocation");
  auto region = std::make_unique<Region>();
  region->base = static_cast<uint64_t>(slots_.size()) << kSlotShift;
  region->bytes = bytes;
  region->home = home;
  region->pages.resize((bytes + (1ull << Region::kPageShift) - 1) >> Region::kPageShift);
  const uint64_t slots = (bytes >> kSlotShift) + 1;
  slots_.insert(slots_.end(), slots, region.get());
  regions_.push_back(std::move(region));
  return regions_.back()->base;
}

}  // namespace ringpost::sim
