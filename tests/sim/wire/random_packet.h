// random_packet.h: packets and addressings drawn at random, with no field left at its default.
#pragma once

#include <array>
#include <random>
#include <vector>

#include "sim/wire/addressing.h"
#include "sim/wire/codec.h"
#include "sim/wire/packet.h"

namespace ringpost {

enum class Carrier { kIpv4, kIpv6, kLocal, kGlobal };
inline constexpr std::array kCarriers = {Carrier::kIpv4, Carrier::kIpv6, Carrier::kLocal,
                                         Carrier::kGlobal};

sim::wire::Link LinkOf(Carrier carrier);

std::vector<sim::wire::Opcode> AllOpcodes();

// Only fields that the opcode has are set. The payload has up to `payload_bytes` bytes.
sim::wire::Packet RandomPacket(std::mt19937_64& random, sim::wire::Opcode opcode,
                               size_t payload_bytes);

sim::wire::Addressing RandomAddressing(std::mt19937_64& random, Carrier carrier);

}  // namespace ringpost
