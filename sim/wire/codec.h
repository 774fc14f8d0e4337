// codec.h: a packet as the bytes of a frame, and back.
//
// Used where bytes must exist: between processes and machines, and in captures. Virtual time hands
// packets over as they are. docs/wire.md describes the formats.
//
//   const std::vector<uint8_t> frame = Encode(packet, RoceAddressing{...});
//   const Decoded decoded = Decode(Link::kEthernet, frame);
//   if (const auto* error = std::get_if<DecodeError>(&decoded)) Log(error->Text());
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "sim/wire/addressing.h"
#include "sim/wire/decode_error.h"
#include "sim/wire/packet.h"

namespace ringpost::sim::wire {

enum class Link : uint8_t { kEthernet, kInfiniband };

struct Frame {
  Packet packet;
  Addressing addressing;

  bool operator==(const Frame&) const = default;
};

// A whole frame: without preamble and FCS on Ethernet, with the VCRC on InfiniBand. The packet must
// be one that a NIC may send, see `transport_headers.h`; fields that its opcode does not have are
// left out.
std::vector<uint8_t> Encode(const Packet& packet, const Addressing& addressing);

using Decoded = std::variant<Frame, DecodeError>;

// Any bytes may come. A Frame means that every checksum held; encoding it gives the same bytes
// again, except for reserved bits, padding, and a UDP checksum, which is optional.
Decoded Decode(Link link, std::span<const uint8_t> bytes);

}  // namespace ringpost::sim::wire
