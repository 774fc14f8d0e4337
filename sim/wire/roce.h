// roce.h: a packet in an Ethernet frame: RoCEv2 (IBA specification, annex A17). See `codec.h`.
#pragma once

#include "sim/wire/addressing.h"
#include "sim/wire/byte_order.h"
#include "sim/wire/packet.h"

namespace ringpost::sim::wire {

void EncodeRoce(const Packet& packet, const RoceAddressing& addressing, ByteWriter& writer);

// Fills both; they are complete unless the reader has failed.
void DecodeRoce(ByteReader& reader, Packet& packet, RoceAddressing& addressing);

}  // namespace ringpost::sim::wire
