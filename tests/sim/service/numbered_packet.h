// numbered_packet.h: packets that say who sent them and as which, with a payload that follows from
// both: one that was mixed up with another shows.
#pragma once

#include <cstdint>

#include "sim/wire/packet.h"

namespace ringpost {

inline sim::wire::Packet NumberedPacket(uint32_t sender, uint64_t number, size_t payload_bytes) {
  sim::wire::Packet packet;
  packet.opcode = sim::wire::Opcode::kRcWriteOnly;
  packet.dest_qpn = sender;
  packet.psn = static_cast<uint32_t>(number & 0xffffff);
  packet.remote_address = number;
  packet.dma_length = static_cast<uint32_t>(payload_bytes);
  packet.payload.resize(payload_bytes);
  for (size_t i = 0; i < payload_bytes; ++i) {
    packet.payload[i] = static_cast<uint8_t>(number * 31 + sender * 7 + i);
  }
  return packet;
}

inline bool IsNumbered(const sim::wire::Packet& packet) {
  return packet == NumberedPacket(packet.dest_qpn, packet.remote_address, packet.payload.size());
}

}  // namespace ringpost
