// peer_index.h: finds a peer among those that a QP has met, by QPN and address.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/nic/address.h"

namespace ringpost::sim {

inline uint32_t PeerHash(uint32_t qpn, const Address& address) {
  const uint64_t lid = address.global ? 0 : address.lid;
  uint64_t hash = (lid << 32 | qpn) * 0x9e3779b97f4a7c15;
  if (address.global) {
    for (const uint8_t byte : address.gid) hash = (hash ^ byte) * 0x100000001b3;
  }
  return static_cast<uint32_t>(hash >> 32);
}

// Numbers from 0 in order of arrival, in a table with open addressing. Nothing is removed.
class PeerIndex {
 public:
  // The number that matches; else the next free one, which is taken.
  template <class Matches, class HashOf>
  uint32_t Find(uint32_t hash, Matches&& matches, HashOf&& hash_of) {
    if (2 * (count_ + 1) > slots_.size()) Grow(hash_of);
    const uint32_t mask = static_cast<uint32_t>(slots_.size()) - 1;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
      if (slots_[at] == 0) {
        slots_[at] = ++count_;
        return count_ - 1;
      }
      if (matches(slots_[at] - 1)) return slots_[at] - 1;
    }
  }

 private:
  template <class HashOf>
  void Grow(HashOf&& hash_of) {
    slots_.assign(slots_.empty() ? 8 : 2 * slots_.size(), 0);
    const uint32_t mask = static_cast<uint32_t>(slots_.size()) - 1;
    for (uint32_t i = 0; i < count_; ++i) {
      uint32_t at = hash_of(i) & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = i + 1;
    }
  }

  std::vector<uint32_t> slots_;  // number + 1; 0: free
  uint32_t count_ = 0;
};

}  // namespace ringpost::sim
