#include "tests/sim/wire/random_packet.h"

namespace ringpost {
namespace {

using sim::wire::Gid;

uint32_t Bits(std::mt19937_64& random, int bits) {
  return static_cast<uint32_t>(random() & ((uint64_t{1} << bits) - 1));
}

template <class Bytes>
void Fill(std::mt19937_64& random, Bytes& bytes) {
  for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
}

Gid RandomGid(std::mt19937_64& random) {
  Gid gid;
  Fill(random, gid);
  gid[0] = 0xfe;  // never an IPv4 address
  return gid;
}

Gid RandomIpv4(std::mt19937_64& random) {
  Gid gid = RandomGid(random);
  return sim::wire::MappedGid(gid[12], gid[13], gid[14], gid[15]);
}

void FillAtomic(std::mt19937_64& random, sim::wire::Packet& packet) {
  packet.remote_address = random();
  packet.remote_key = Bits(random, 32);
  packet.swap_add = random();
  packet.compare = random();
  if (sim::wire::HasMaskedAtomicEth(packet.opcode)) {
    packet.swap_mask = random();
    packet.compare_mask = random();
    packet.atomic_bytes = Bits(random, 1) != 0 ? 4 : 8;
  }
}

void FillExtended(std::mt19937_64& random, sim::wire::Packet& packet) {
  const sim::wire::Opcode opcode = packet.opcode;
  if (HasDeth(opcode)) packet.qkey = Bits(random, 32);
  if (HasDcHeader(opcode)) packet.dc_key = random();
  if (HasDeth(opcode) || HasDcHeader(opcode)) packet.source_qpn = Bits(random, 24);
  if (HasReth(opcode)) {
    packet.remote_address = random();
    packet.remote_key = Bits(random, 32);
    packet.dma_length = Bits(random, 32);
  }
  if (IsAtomic(opcode)) FillAtomic(random, packet);
  if (HasAeth(opcode)) {
    packet.syndrome = static_cast<uint8_t>(Bits(random, 8));
    packet.msn = Bits(random, 24);
  }
  if (HasAtomicAckEth(opcode)) packet.original = random();
  if (HasImmediate(opcode)) packet.immediate = Bits(random, 32);
  if (HasIeth(opcode)) packet.invalidate_key = Bits(random, 32);
}

}  // namespace

sim::wire::Link LinkOf(Carrier carrier) {
  const bool is_ethernet = carrier == Carrier::kIpv4 || carrier == Carrier::kIpv6;
  return is_ethernet ? sim::wire::Link::kEthernet : sim::wire::Link::kInfiniband;
}

std::vector<sim::wire::Opcode> AllOpcodes() {
  std::vector<sim::wire::Opcode> all;
  for (int i = 0; i < 256; ++i) {
    const auto opcode = static_cast<sim::wire::Opcode>(i);
    if (IsKnown(opcode)) all.push_back(opcode);
  }
  return all;
}

sim::wire::Packet RandomPacket(std::mt19937_64& random, sim::wire::Opcode opcode,
                               size_t payload_bytes) {
  sim::wire::Packet packet;
  packet.opcode = opcode;
  packet.solicited = Bits(random, 1) != 0;
  packet.ack_request = Bits(random, 1) != 0;
  packet.migrated = Bits(random, 1) != 0;
  packet.fecn = Bits(random, 1) != 0;
  packet.becn = Bits(random, 1) != 0;
  packet.pkey = static_cast<uint16_t>(Bits(random, 16));
  packet.dest_qpn = Bits(random, 24);
  packet.psn = Bits(random, 24);
  FillExtended(random, packet);
  if (HasPayload(opcode)) packet.payload.resize(random() % (payload_bytes + 1));
  Fill(random, packet.payload);
  return packet;
}

sim::wire::Addressing RandomAddressing(std::mt19937_64& random, Carrier carrier) {
  if (LinkOf(carrier) == sim::wire::Link::kInfiniband) {
    sim::wire::InfinibandAddressing at;
    at.source_lid = static_cast<uint16_t>(Bits(random, 16));
    at.target_lid = static_cast<uint16_t>(Bits(random, 16));
    at.virtual_lane = static_cast<uint8_t>(Bits(random, 4));
    at.service_level = static_cast<uint8_t>(Bits(random, 4));
    if (carrier == Carrier::kGlobal) {
      at.global = {RandomGid(random), RandomGid(random), static_cast<uint8_t>(Bits(random, 8)),
                   Bits(random, 20), static_cast<uint8_t>(Bits(random, 8))};
    }
    return at;
  }
  sim::wire::RoceAddressing at;
  const bool is_ipv4 = carrier == Carrier::kIpv4;
  Fill(random, at.source_mac);
  Fill(random, at.target_mac);
  at.source = is_ipv4 ? RandomIpv4(random) : RandomGid(random);
  at.target = is_ipv4 ? RandomIpv4(random) : RandomGid(random);
  at.dscp = static_cast<uint8_t>(Bits(random, 6));
  at.ecn = static_cast<uint8_t>(Bits(random, 2));
  at.ttl = static_cast<uint8_t>(Bits(random, 8));
  if (is_ipv4) at.ip_id = static_cast<uint16_t>(Bits(random, 16));
  if (is_ipv4) at.dont_fragment = Bits(random, 1) != 0;
  if (!is_ipv4) at.flow_label = Bits(random, 20);
  at.source_port = static_cast<uint16_t>(Bits(random, 16));
  return at;
}

}  // namespace ringpost
