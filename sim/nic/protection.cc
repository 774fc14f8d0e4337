#include "sim/nic/protection.h"

namespace ringpost::sim {
namespace {

bool Wraps(const MemoryRegion& region) {
  return region.bytes == 0 || region.iova + (region.bytes - 1) < region.iova ||
         region.address + (region.bytes - 1) < region.address;
}

}  // namespace

uint32_t Protection::Register(const MemoryRegion& region, int variant) {
  if (Wraps(region) || !HasPd(region.pd)) return 0;
  uint32_t index = 0;
  if (entries_.size() < kKeys) {
    index = static_cast<uint32_t>(entries_.size());
    entries_.push_back({region, static_cast<uint8_t>(index * 37 + 1), true});
  } else if (!free_.empty()) {
    index = free_.front();
    free_.erase(free_.begin());
    entries_[index] = {region, static_cast<uint8_t>(entries_[index].variant + 1), true};
  } else {
    return 0;
  }
  if (variant >= 0) entries_[index].variant = static_cast<uint8_t>(variant);
  UsePd(region.pd);
  return (uint32_t{slot_} << 24) | (index << 8) | entries_[index].variant;
}

Protection::Entry* Protection::Find(uint32_t key) {
  const uint32_t index = (key >> 8) & 0xffff;
  if ((key >> 24) != slot_ || index >= entries_.size()) return nullptr;
  Entry& entry = entries_[index];
  return entry.valid && entry.variant == (key & 0xff) ? &entry : nullptr;
}

bool Protection::Deregister(uint32_t key) {
  Entry* entry = Find(key);
  if (entry == nullptr) return false;
  entry->valid = false;
  LeavePd(entry->region.pd);
  free_.push_back((key >> 8) & 0xffff);
  return true;
}

bool Protection::Change(uint32_t key, const MemoryRegion& region) {
  Entry* entry = Find(key);
  if (entry == nullptr || Wraps(region) || !HasPd(region.pd)) return false;
  UsePd(region.pd);
  LeavePd(entry->region.pd);
  entry->region = region;
  return true;
}

bool Protection::Invalidate(uint32_t key, uint32_t pd) {
  Entry* entry = Find(key);
  if (entry == nullptr || entry->region.pd != pd) return false;
  if ((entry->region.rights & kMayInvalidateRemotely) == 0) return false;
  return Deregister(key);
}

}  // namespace ringpost::sim
