#include "sim/wire/infiniband.h"

#include <algorithm>

#include "sim/engine/check.h"
#include "sim/wire/checksum.h"
#include "sim/wire/transport_headers.h"
#include "sim/wire/wire_sizes.h"

namespace ringpost::sim::wire {
namespace {

constexpr uint64_t kLengthMask = 0x7ff;

void EncodeGlobal(const GlobalRoute& route, size_t length, ByteWriter& writer) {
  writer.Put(4, 6u << 28 | static_cast<uint32_t>(route.traffic_class) << 20 | route.flow_label);
  writer.Put(2, length);
  writer.Put(1, kProtocolBth);
  writer.Put(1, route.hop_limit);
  writer.PutBytes(route.source);
  writer.PutBytes(route.target);
}

void TakeGid(ByteReader& reader, const char* field, Gid& gid) {
  const std::span<const uint8_t> bytes = reader.TakeBytes(gid.size(), field);
  std::copy(bytes.begin(), bytes.end(), gid.begin());
}

// What is left is the rest of this header, the packet and its ICRC.
GlobalRoute DecodeGlobal(ByteReader& reader) {
  GlobalRoute route;
  const uint64_t first = reader.Take(4, "GRH.version");
  reader.Require(first >> 28 == 6, "not version 6");
  route.traffic_class = static_cast<uint8_t>(first >> 20);
  route.flow_label = static_cast<uint32_t>(first & 0xfffff);
  const uint64_t length = reader.Take(2, "GRH.length");
  reader.Require(length + kGrhBytes - 6 == reader.Left(), "not that of the packet");
  reader.Require(reader.Take(1, "GRH.next_header") == kProtocolBth, "not a BTH");
  route.hop_limit = static_cast<uint8_t>(reader.Take(1, "GRH.hop_limit"));
  TakeGid(reader, "GRH.source", route.source);
  TakeGid(reader, "GRH.target", route.target);
  return route;
}

// Leaves the packet and its ICRC.
void DecodeRoutes(ByteReader& reader, InfinibandAddressing& at) {
  const uint64_t lane = reader.Take(1, "LRH.virtual_lane");
  reader.Require((lane & 0xf) == 0, "the link version is not 0");
  at.virtual_lane = static_cast<uint8_t>(lane >> 4);
  const uint64_t next = reader.Take(1, "LRH.next_header");
  reader.Require((next & 3) == kLnhLocal || (next & 3) == kLnhGlobal, "not a transport packet");
  at.service_level = static_cast<uint8_t>(next >> 4);
  at.target_lid = static_cast<uint16_t>(reader.Take(2, "LRH.target"));
  const uint64_t words = reader.Take(2, "LRH.length") & kLengthMask;
  reader.Require(words * 4 == reader.Bytes().size(), "not that of the packet");
  at.source_lid = static_cast<uint16_t>(reader.Take(2, "LRH.source"));
  if ((next & 3) == kLnhGlobal && !reader.Failed()) at.global = DecodeGlobal(reader);
}

}  // namespace

void EncodeInfiniband(const Packet& packet, const InfinibandAddressing& at, ByteWriter& writer) {
  RINGPOST_CHECK(at.virtual_lane < 16 && at.service_level < 16, "a value out of range");
  RINGPOST_CHECK(!at.global || at.global->flow_label < 1u << 20, "a value out of range");
  ByteWriter transport;
  EncodeTransport(packet, transport);
  const size_t length = transport.Written().size() + kIcrcBytes;
  const size_t routes = kLrhBytes + (at.global ? kGrhBytes : 0);
  writer.Put(1, at.virtual_lane << 4);
  writer.Put(1, at.service_level << 4 | (at.global ? kLnhGlobal : kLnhLocal));
  writer.Put(2, at.target_lid);
  writer.Put(2, (routes + length) / 4);
  writer.Put(2, at.source_lid);
  if (at.global) EncodeGlobal(*at.global, length, writer);
  writer.PutBytes(transport.Written());
  writer.PutLowFirst(kIcrcBytes, InfinibandIcrc(writer.Written()));
  writer.PutLowFirst(kVcrcBytes, Vcrc(writer.Written()));
}

void DecodeInfiniband(ByteReader& reader, Packet& packet, InfinibandAddressing& at) {
  const uint64_t vcrc = reader.TakeLast(kVcrcBytes, "VCRC");
  reader.Require(vcrc == Vcrc(reader.Bytes()), "wrong");
  DecodeRoutes(reader, at);
  // The least that an ICRC covers.
  const size_t left = reader.Left();
  const uint64_t icrc = reader.TakeLast(kIcrcBytes, "ICRC");
  reader.Require(left >= kBthBytes + kIcrcBytes, "no room for a packet before it");
  if (reader.Failed()) return;
  reader.Require(icrc == InfinibandIcrc(reader.Bytes()), "wrong");
  packet = DecodeTransport(reader);
}

}  // namespace ringpost::sim::wire
