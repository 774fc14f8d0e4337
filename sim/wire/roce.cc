#include "sim/wire/roce.h"

#include <algorithm>

#include "sim/engine/check.h"
#include "sim/wire/checksum.h"
#include "sim/wire/transport_headers.h"
#include "sim/wire/wire_sizes.h"

namespace ringpost::sim::wire {
namespace {

constexpr size_t kIpv4InGid = 12;  // where a mapped GID holds the IPv4 address
constexpr size_t kShortestFrame = 60;
constexpr uint64_t kDontFragment = 0x4000;

void EncodeIpv4(const RoceAddressing& at, size_t ip_payload, ByteWriter& writer) {
  const size_t begin = writer.Written().size();
  writer.Put(1, 0x45);
  writer.Put(1, at.dscp << 2 | at.ecn);
  writer.Put(2, kIpv4Bytes + ip_payload);
  writer.Put(2, at.ip_id);
  writer.Put(2, at.dont_fragment ? kDontFragment : 0);
  writer.Put(1, at.ttl);
  writer.Put(1, kProtocolUdp);
  writer.Put(2, 0);
  writer.PutBytes(std::span(at.source).subspan(kIpv4InGid));
  writer.PutBytes(std::span(at.target).subspan(kIpv4InGid));
  const uint32_t sum = OnesSum(writer.Written().subspan(begin));
  writer.PutAt(begin + 10, static_cast<uint16_t>(~sum));
}

void EncodeIpv6(const RoceAddressing& at, size_t ip_payload, ByteWriter& writer) {
  writer.Put(4, 6u << 28 | static_cast<uint32_t>(at.dscp) << 22 |
                    static_cast<uint32_t>(at.ecn) << 20 | at.flow_label);
  writer.Put(2, ip_payload);
  writer.Put(1, kProtocolUdp);
  writer.Put(1, at.ttl);
  writer.PutBytes(at.source);
  writer.PutBytes(at.target);
}

void TakeTrafficClass(uint64_t value, RoceAddressing& at) {
  at.dscp = static_cast<uint8_t>(value >> 2 & 0x3f);
  at.ecn = static_cast<uint8_t>(value & 3);
}

void TakeGid(ByteReader& reader, const char* field, Gid& gid) {
  const std::span<const uint8_t> bytes = reader.TakeBytes(gid.size(), field);
  std::copy(bytes.begin(), bytes.end(), gid.begin());
  reader.Require(!IsMapped(gid), "an IPv4 address in an IPv6 header");
}

void TakeIpv4Address(ByteReader& reader, const char* field, Gid& gid) {
  gid = MappedGid(0, 0, 0, 0);
  const std::span<const uint8_t> bytes = reader.TakeBytes(4, field);
  std::copy(bytes.begin(), bytes.end(), gid.begin() + kIpv4InGid);
}

// Returns the length of what the IP header carries.
size_t DecodeIpv4(ByteReader& reader, RoceAddressing& at) {
  const size_t begin = reader.Offset();
  reader.Require(reader.Take(1, "IPv4.version") == 0x45, "not version 4 without options");
  TakeTrafficClass(reader.Take(1, "IPv4.traffic_class"), at);
  const uint64_t length = reader.Take(2, "IPv4.length");
  reader.Require(length >= kIpv4Bytes, "shorter than its header");
  at.ip_id = static_cast<uint16_t>(reader.Take(2, "IPv4.id"));
  const uint64_t fragment = reader.Take(2, "IPv4.fragment");
  reader.Require((fragment & ~kDontFragment) == 0, "a fragment");
  at.dont_fragment = fragment != 0;
  at.ttl = static_cast<uint8_t>(reader.Take(1, "IPv4.ttl"));
  reader.Require(reader.Take(1, "IPv4.protocol") == kProtocolUdp, "not UDP");
  reader.Take(2, "IPv4.checksum");
  const std::span<const uint8_t> header = reader.Bytes().subspan(begin);
  if (header.size() >= kIpv4Bytes) {
    reader.Require(OnesSum(header.first(kIpv4Bytes)) == 0xffff, "wrong");
  }
  TakeIpv4Address(reader, "IPv4.source", at.source);
  TakeIpv4Address(reader, "IPv4.target", at.target);
  return length - kIpv4Bytes;
}

size_t DecodeIpv6(ByteReader& reader, RoceAddressing& at) {
  const uint64_t first = reader.Take(4, "IPv6.version");
  reader.Require(first >> 28 == 6, "not version 6");
  TakeTrafficClass(first >> 20, at);
  at.flow_label = static_cast<uint32_t>(first & 0xfffff);
  const uint64_t length = reader.Take(2, "IPv6.length");
  reader.Require(reader.Take(1, "IPv6.next_header") == kProtocolUdp, "not UDP");
  at.ttl = static_cast<uint8_t>(reader.Take(1, "IPv6.hop_limit"));
  TakeGid(reader, "IPv6.source", at.source);
  TakeGid(reader, "IPv6.target", at.target);
  return length;
}

// Of the UDP packet: its words and the pseudo header's. The addresses of an IPv4 packet are summed
// as mapped GIDs, whose two bytes of ones add 0xffff each: nothing, in ones' complement.
bool UdpChecksumHolds(std::span<const uint8_t> udp, const RoceAddressing& at) {
  uint32_t sum = OnesSum(at.target, OnesSum(at.source));
  sum += static_cast<uint32_t>(udp.size()) + kProtocolUdp;
  return OnesSum(udp, sum) == 0xffff;
}

// `ip_payload` is the length that the IP header states.
void DecodeUdp(ByteReader& reader, size_t ip_payload, RoceAddressing& at) {
  const std::span<const uint8_t> udp = reader.Bytes().subspan(reader.Offset());
  at.source_port = static_cast<uint16_t>(reader.Take(2, "UDP.source_port"));
  reader.Require(reader.Take(2, "UDP.target_port") == kRoceUdpPort, "not RoCEv2's");
  const uint64_t length = reader.Take(2, "UDP.length");
  reader.Require(length == ip_payload, "not that of the IP packet");
  reader.Require(length >= kUdpBytes + kBthBytes + kIcrcBytes, "no room for a packet");
  reader.Require(length <= udp.size(), "longer than the frame");
  // Ethernet pads what is shorter than its shortest frame, and nothing else.
  reader.Require(length == udp.size() || reader.Bytes().size() <= kShortestFrame,
                 "shorter than the frame");
  const bool has_checksum = reader.Take(2, "UDP.checksum") != 0;
  if (has_checksum && !reader.Failed()) {
    reader.Require(UdpChecksumHolds(udp.first(length), at), "wrong");
  }
  reader.EndAfter(length - kUdpBytes);
}

}  // namespace

void EncodeRoce(const Packet& packet, const RoceAddressing& at, ByteWriter& writer) {
  const bool is_ipv4 = IsMapped(at.source);
  RINGPOST_CHECK(is_ipv4 == IsMapped(at.target), "one address of IPv4, one of IPv6");
  RINGPOST_CHECK(at.dscp < 64 && at.ecn < 4 && at.flow_label < 1u << 20, "a value out of range");
  ByteWriter transport;
  EncodeTransport(packet, transport);
  const size_t udp_length = kUdpBytes + transport.Written().size() + kIcrcBytes;
  writer.PutBytes(at.target_mac);
  writer.PutBytes(at.source_mac);
  writer.Put(2, is_ipv4 ? kEtherTypeIpv4 : kEtherTypeIpv6);
  const size_t ip = writer.Written().size();
  is_ipv4 ? EncodeIpv4(at, udp_length, writer) : EncodeIpv6(at, udp_length, writer);
  writer.Put(2, at.source_port);
  writer.Put(2, kRoceUdpPort);
  writer.Put(2, udp_length);
  writer.Put(2, 0);  // no checksum: the ICRC covers more
  writer.PutBytes(transport.Written());
  writer.PutLowFirst(kIcrcBytes, RoceIcrc(writer.Written().subspan(ip)));
}

void DecodeRoce(ByteReader& reader, Packet& packet, RoceAddressing& at) {
  const auto target = reader.TakeBytes(at.target_mac.size(), "Ethernet.target");
  std::copy(target.begin(), target.end(), at.target_mac.begin());
  const auto source = reader.TakeBytes(at.source_mac.size(), "Ethernet.source");
  std::copy(source.begin(), source.end(), at.source_mac.begin());
  const uint64_t type = reader.Take(2, "Ethernet.type");
  reader.Require(type == kEtherTypeIpv4 || type == kEtherTypeIpv6, "neither IPv4 nor IPv6");
  const bool is_ipv4 = type == kEtherTypeIpv4;
  const size_t ip_payload = is_ipv4 ? DecodeIpv4(reader, at) : DecodeIpv6(reader, at);
  DecodeUdp(reader, ip_payload, at);
  const uint64_t icrc = reader.TakeLast(kIcrcBytes, "ICRC");
  if (reader.Failed()) return;
  reader.Require(icrc == RoceIcrc(reader.Bytes().subspan(kEthernetBytes)), "wrong");
  packet = DecodeTransport(reader);
}

}  // namespace ringpost::sim::wire
