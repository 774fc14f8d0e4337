// infiniband.h: a packet on InfiniBand's own link (IBA specification, 7.7 and 8.3). See `codec.h`.
#pragma once

#include "sim/wire/addressing.h"
#include "sim/wire/byte_order.h"
#include "sim/wire/packet.h"

namespace ringpost::sim::wire {

void EncodeInfiniband(const Packet& packet, const InfinibandAddressing& addressing,
                      ByteWriter& writer);

// Fills both; they are complete unless the reader has failed.
void DecodeInfiniband(ByteReader& reader, Packet& packet, InfinibandAddressing& addressing);

}  // namespace ringpost::sim::wire
