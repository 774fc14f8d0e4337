#include "sim/wire/transport_headers.h"

#include <cstring>

#include "sim/engine/check.h"
#include "sim/wire/wire_sizes.h"

namespace ringpost::sim::wire {
namespace {

constexpr uint64_t kMax24Bits = 0xffffff;

size_t PaddingOf(size_t payload_bytes) { return -payload_bytes & 3; }

void CheckSendable(const Packet& packet) {
  const Opcode opcode = packet.opcode;
  RINGPOST_CHECK(IsKnown(opcode), "a packet with an unknown opcode");
  RINGPOST_CHECK(packet.dest_qpn <= kMax24Bits && packet.psn <= kMax24Bits, "more than 24 bits");
  RINGPOST_CHECK(packet.msn <= kMax24Bits && packet.source_qpn <= kMax24Bits, "more than 24 bits");
  RINGPOST_CHECK(packet.payload.empty() || HasPayload(opcode), "a payload where none belongs");
  RINGPOST_CHECK(packet.payload.size() <= kMaxPayloadBytes, "a payload above the largest MTU");
  RINGPOST_CHECK(packet.atomic_bytes == 4 || packet.atomic_bytes == 8, "an atomic's size");
}

void EncodeBth(const Packet& packet, ByteWriter& writer) {
  const size_t padding = PaddingOf(packet.payload.size());
  writer.Put(1, static_cast<uint8_t>(packet.opcode));
  writer.Put(1, packet.solicited << 7 | packet.migrated << 6 | padding << 4);
  writer.Put(2, packet.pkey);
  writer.Put(1, packet.fecn << 7 | packet.becn << 6);
  writer.Put(3, packet.dest_qpn);
  writer.Put(1, packet.ack_request << 7);
  writer.Put(3, packet.psn);
}

void EncodeAtomic(const Packet& packet, ByteWriter& writer) {
  writer.Put(8, packet.remote_address);
  writer.Put(4, packet.remote_key);
  if (HasMaskedAtomicEth(packet.opcode)) writer.Put(4, packet.atomic_bytes);
  writer.Put(8, packet.swap_add);
  writer.Put(8, packet.compare);
  if (HasMaskedAtomicEth(packet.opcode)) {
    writer.Put(8, packet.swap_mask);
    writer.Put(8, packet.compare_mask);
  }
}

void EncodeExtended(const Packet& packet, ByteWriter& writer) {
  const Opcode opcode = packet.opcode;
  if (HasDeth(opcode)) {
    writer.Put(4, packet.qkey);
    writer.Put(4, packet.source_qpn);
  }
  if (HasDcHeader(opcode)) {
    writer.Put(8, packet.dc_key);
    writer.Put(4, packet.source_qpn);
  }
  if (HasReth(opcode)) {
    writer.Put(8, packet.remote_address);
    writer.Put(4, packet.remote_key);
    writer.Put(4, packet.dma_length);
  }
  if (IsAtomic(opcode)) EncodeAtomic(packet, writer);
  if (HasAeth(opcode)) {
    writer.Put(1, packet.syndrome);
    writer.Put(3, packet.msn);
  }
  if (HasAtomicAckEth(opcode)) writer.Put(8, packet.original);
  if (HasImmediate(opcode)) {
    uint8_t bytes[4];
    std::memcpy(bytes, &packet.immediate, sizeof bytes);
    writer.PutBytes(bytes);
  }
  if (HasIeth(opcode)) writer.Put(4, packet.invalidate_key);
  if (opcode == Opcode::kCnp) writer.PutZeros(kCnpReservedBytes);
}

// Returns the pad count.
size_t DecodeBth(ByteReader& reader, Packet& packet) {
  packet.opcode = static_cast<Opcode>(reader.Take(1, "BTH.opcode"));
  reader.Require(IsKnown(packet.opcode), "no such opcode");
  const uint64_t flags = reader.Take(1, "BTH.flags");
  reader.Require((flags & 0xf) == 0, "the transport version is not 0");
  packet.solicited = (flags & 0x80) != 0;
  packet.migrated = (flags & 0x40) != 0;
  packet.pkey = static_cast<uint16_t>(reader.Take(2, "BTH.pkey"));
  const uint64_t congestion = reader.Take(1, "BTH.congestion");
  packet.fecn = (congestion & 0x80) != 0;
  packet.becn = (congestion & 0x40) != 0;
  packet.dest_qpn = static_cast<uint32_t>(reader.Take(3, "BTH.dest_qpn"));
  packet.ack_request = (reader.Take(1, "BTH.ack_request") & 0x80) != 0;
  packet.psn = static_cast<uint32_t>(reader.Take(3, "BTH.psn"));
  return flags >> 4 & 3;
}

void DecodeAtomic(ByteReader& reader, Packet& packet) {
  packet.remote_address = reader.Take(8, "AtomicETH.address");
  packet.remote_key = static_cast<uint32_t>(reader.Take(4, "AtomicETH.rkey"));
  if (HasMaskedAtomicEth(packet.opcode)) {
    const uint64_t bytes = reader.Take(4, "AtomicETH.bytes");
    reader.Require(bytes == 4 || bytes == 8, "neither 4 nor 8");
    packet.atomic_bytes = static_cast<uint8_t>(bytes);
  }
  packet.swap_add = reader.Take(8, "AtomicETH.swap_add");
  packet.compare = reader.Take(8, "AtomicETH.compare");
  if (HasMaskedAtomicEth(packet.opcode)) {
    packet.swap_mask = reader.Take(8, "AtomicETH.swap_mask");
    packet.compare_mask = reader.Take(8, "AtomicETH.compare_mask");
  }
}

// A number of 24 bits behind a reserved byte.
uint32_t Take24(ByteReader& reader, const char* field) {
  return static_cast<uint32_t>(reader.Take(4, field) & kMax24Bits);
}

void DecodeExtended(ByteReader& reader, Packet& packet) {
  const Opcode opcode = packet.opcode;
  if (HasDeth(opcode)) {
    packet.qkey = static_cast<uint32_t>(reader.Take(4, "DETH.qkey"));
    packet.source_qpn = Take24(reader, "DETH.source_qpn");
  }
  if (HasDcHeader(opcode)) {
    packet.dc_key = reader.Take(8, "DC.access_key");
    packet.source_qpn = Take24(reader, "DC.source_qpn");
  }
  if (HasReth(opcode)) {
    packet.remote_address = reader.Take(8, "RETH.address");
    packet.remote_key = static_cast<uint32_t>(reader.Take(4, "RETH.rkey"));
    packet.dma_length = static_cast<uint32_t>(reader.Take(4, "RETH.length"));
  }
  if (IsAtomic(opcode)) DecodeAtomic(reader, packet);
  if (HasAeth(opcode)) {
    packet.syndrome = static_cast<uint8_t>(reader.Take(1, "AETH.syndrome"));
    packet.msn = static_cast<uint32_t>(reader.Take(3, "AETH.msn"));
  }
  if (HasAtomicAckEth(opcode)) packet.original = reader.Take(8, "AtomicAckETH.original");
  if (HasImmediate(opcode)) {
    const std::span<const uint8_t> bytes = reader.TakeBytes(4, "ImmDt");
    if (!bytes.empty()) std::memcpy(&packet.immediate, bytes.data(), sizeof packet.immediate);
  }
  if (HasIeth(opcode)) packet.invalidate_key = static_cast<uint32_t>(reader.Take(4, "IETH.rkey"));
  if (opcode == Opcode::kCnp) reader.TakeBytes(kCnpReservedBytes, "CNP.reserved");
}

}  // namespace

void EncodeTransport(const Packet& packet, ByteWriter& writer) {
  CheckSendable(packet);
  EncodeBth(packet, writer);
  EncodeExtended(packet, writer);
  writer.PutBytes(packet.payload);
  writer.PutZeros(PaddingOf(packet.payload.size()));
}

Packet DecodeTransport(ByteReader& reader) {
  Packet packet;
  const size_t padding = DecodeBth(reader, packet);
  DecodeExtended(reader, packet);
  const size_t left = reader.Left();
  const std::span<const uint8_t> padded = reader.TakeBytes(left, "payload");
  reader.Require(left % 4 == 0, "it and its padding are not whole words");
  reader.Require(padding <= left, "shorter than its padding");
  reader.Require(left == 0 || HasPayload(packet.opcode), "this opcode has none");
  reader.Require(left <= kMaxPayloadBytes, "longer than the largest MTU");
  if (!reader.Failed()) packet.payload.assign(padded.begin(), padded.end() - padding);
  return packet;
}

}  // namespace ringpost::sim::wire
