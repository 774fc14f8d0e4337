// packet_bytes.h: a packet's fields as bytes in shared memory: those that its opcode has, in the
// host's own order. Not the encoding of InfiniBand, which costs checksums; see `sim/wire/codec.h`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/wire/packet.h"

namespace ringpost::sim::service {

inline constexpr size_t kMaxFieldBytes = 96;

// Writes the fields, the payload's length among them, and returns how many bytes they took.
// `source` travels with the packet: a number that says which device sent it.
size_t PackFields(const wire::Packet& packet, uint16_t source, std::span<uint8_t> bytes);

struct UnpackedFields {
  size_t field_bytes = 0;  // 0: the bytes are no packet
  size_t payload_bytes = 0;
  uint16_t source = 0;
};

// Reads them again; fields that the opcode does not have get their defaults, and the payload is
// emptied. Any bytes may come.
UnpackedFields UnpackFields(std::span<const uint8_t> bytes, wire::Packet& packet);

}  // namespace ringpost::sim::service
