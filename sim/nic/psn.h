// psn.h: packet sequence numbers: 24 bits, compared as serial numbers.
#pragma once

#include <cstdint>

namespace ringpost::sim {

inline constexpr uint32_t kPsnMask = 0xffffff;

// How far `to` is ahead of `from`: negative where it is behind.
constexpr int32_t PsnDistance(uint32_t from, uint32_t to) {
  return static_cast<int32_t>((to - from) << 8) >> 8;
}

constexpr uint32_t PsnAfter(uint32_t psn, uint32_t count) { return (psn + count) & kPsnMask; }

}  // namespace ringpost::sim
