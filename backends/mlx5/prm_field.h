// prm_field.h: one field of a command mailbox of the device (PRM: "command interface"), and how it
// is written and read.
//
// Mailboxes are big-endian dwords. A field is named by the byte at which its dword begins, its
// lowest bit in there, and its width; one of 64 bits takes two dwords, the upper one first. The
// tables of fields are prm_commands.h and prm_contexts.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ringpost::mlx5::prm {

struct Field {
  uint32_t at;     // byte of the dword, in the structure
  uint32_t low;    // lowest bit
  uint32_t width;  // bits: 1 to 32, or 64
};

// The same field of a structure that begins at byte `base` of the mailbox.
constexpr Field In(uint32_t base, Field field) { return {base + field.at, field.low, field.width}; }

constexpr uint32_t LoadDword(std::span<const uint8_t> bytes, uint32_t at) {
  return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 |
         bytes[at + 3];
}

constexpr void StoreDword(std::span<uint8_t> bytes, uint32_t at, uint32_t value) {
  for (uint32_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

constexpr uint32_t MaskOf(uint32_t width) { return width >= 32 ? ~0u : (1u << width) - 1; }

// A value that is wider than its field loses its upper bits: callers hold limits before.
constexpr void Set(std::span<uint8_t> bytes, Field field, uint64_t value) {
  if (field.width == 64) {
    StoreDword(bytes, field.at, static_cast<uint32_t>(value >> 32));
    StoreDword(bytes, field.at + 4, static_cast<uint32_t>(value));
    return;
  }
  const uint32_t mask = MaskOf(field.width) << field.low;
  const uint32_t others = LoadDword(bytes, field.at) & ~mask;
  StoreDword(bytes, field.at, others | ((static_cast<uint32_t>(value) << field.low) & mask));
}

constexpr uint64_t Get(std::span<const uint8_t> bytes, Field field) {
  if (field.width == 64) {
    return uint64_t{LoadDword(bytes, field.at)} << 32 | LoadDword(bytes, field.at + 4);
  }
  return (LoadDword(bytes, field.at) >> field.low) & MaskOf(field.width);
}

}  // namespace ringpost::mlx5::prm
