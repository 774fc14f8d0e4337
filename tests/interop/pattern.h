// pattern.h: bytes that differ by seed and by place, on both sides of a transfer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringpost::interop {

// A prime modulus: shifted by a packet or a page it is another pattern.
constexpr uint8_t PatternAt(uint32_t seed, size_t i) {
  return static_cast<uint8_t>((seed * 37 + i * 11 + i / 251 + 1) % 251);
}

inline void FillPattern(uint8_t* bytes, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) bytes[i] = PatternAt(seed, i);
}

// The first byte that is another one; -1 if none is.
inline int64_t FindDifference(const uint8_t* bytes, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] != PatternAt(seed, i)) return static_cast<int64_t>(i);
  }
  return -1;
}

}  // namespace ringpost::interop
