// field.h: one field of a firmware mailbox or context: which bits of which big-endian dword.
//
//   constexpr Field kLogCqSize{0x0c, 28, 24};       // as the manual writes it: 0x0c[28:24]
//   Get(context, kLogCqSize)
//
// Offsets count bytes from the start of the structure that the field belongs to; In(base, field) is
// the same field of a structure that begins at `base` of another.
#pragma once

#include <cstdint>

#include "sim/nic/big_endian.h"

namespace ringpost::sim::uverbs::prm {

struct Field {
  uint16_t offset;
  uint8_t high;
  uint8_t low;

  constexpr uint32_t Bits() const { return high - low + 1u; }
  constexpr uint32_t Max() const { return static_cast<uint32_t>((uint64_t{1} << Bits()) - 1); }
  constexpr bool Valid() const { return offset % 4 == 0 && high < 32 && low <= high; }
};

// 64 bits: two dwords, the upper one first.
struct Wide {
  uint16_t offset;
};

constexpr Field Bit(uint16_t offset, uint8_t bit) { return {offset, bit, bit}; }
constexpr Field Dword(uint16_t offset) { return {offset, 31, 0}; }
constexpr Field In(uint16_t base, Field field) {
  return {static_cast<uint16_t>(base + field.offset), field.high, field.low};
}
constexpr Wide In(uint16_t base, Wide wide) { return {static_cast<uint16_t>(base + wide.offset)}; }

inline uint32_t Get(const uint8_t* base, Field field) {
  return (Big32(base + field.offset) >> field.low) & field.Max();
}

inline uint64_t Get(const uint8_t* base, Wide wide) { return Big64(base + wide.offset); }

inline void PutDword(uint8_t* at, uint32_t value) {
  const uint32_t big = abi::Swap32(value);
  std::memcpy(at, &big, sizeof(big));
}

// Bits of `value` that the field has no room for are dropped, as hardware drops them.
inline void Set(uint8_t* base, Field field, uint32_t value) {
  uint8_t* at = base + field.offset;
  const uint32_t mask = field.Max() << field.low;
  PutDword(at, (Big32(at) & ~mask) | ((value << field.low) & mask));
}

inline void Set(uint8_t* base, Wide wide, uint64_t value) {
  PutDword(base + wide.offset, static_cast<uint32_t>(value >> 32));
  PutDword(base + wide.offset + 4, static_cast<uint32_t>(value));
}

}  // namespace ringpost::sim::uverbs::prm
