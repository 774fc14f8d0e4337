#include "sim/nic/keys.h"

namespace ringpost::sim {

uint32_t KeyTable::Register(uint64_t address, uint64_t bytes, uint8_t rights) {
  const uint32_t index = static_cast<uint32_t>(entries_.size());
  const uint8_t variant = static_cast<uint8_t>(index * 37 + 1);
  entries_.push_back({address, bytes, rights, variant, true});
  return (index << 8) | variant;
}

void KeyTable::Deregister(uint32_t key) {
  const uint32_t index = key >> 8;
  if (index < entries_.size()) entries_[index].valid = false;
}

bool KeyTable::Allows(uint32_t key, uint64_t address, uint64_t bytes, uint8_t rights) const {
  const uint32_t index = key >> 8;
  if (index >= entries_.size()) return false;
  const Entry& entry = entries_[index];
  if (!entry.valid || entry.variant != (key & 0xff)) return false;
  if ((entry.rights & rights) != rights || address < entry.address) return false;
  const uint64_t offset = address - entry.address;
  return offset <= entry.bytes && bytes <= entry.bytes - offset;
}

}  // namespace ringpost::sim
