// transport_headers.h: a packet from the BTH to its padding: the part that every carrier shares.
#pragma once

#include "sim/wire/byte_order.h"
#include "sim/wire/packet.h"

namespace ringpost::sim::wire {

// Appends BTH, extended headers, payload and padding, without the ICRC. The packet must be one that
// a NIC may send: a known opcode, numbers that fit their fields, no payload where none belongs.
void EncodeTransport(const Packet& packet, ByteWriter& writer);

// Reads the same from all that the reader has left. Complete unless the reader has failed.
Packet DecodeTransport(ByteReader& reader);

}  // namespace ringpost::sim::wire
