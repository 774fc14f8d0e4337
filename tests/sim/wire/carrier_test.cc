// What carries a packet: the headers before it that are refused, each for its own reason.
#include <boost/test/unit_test.hpp>

#include "sim/wire/checksum.h"
#include "sim/wire/codec.h"

namespace ringpost {
namespace {

using sim::wire::Addressing;
using sim::wire::Decode;
using sim::wire::Decoded;
using sim::wire::DecodeError;
using sim::wire::Encode;
using sim::wire::Frame;
using sim::wire::GlobalRoute;
using sim::wire::InfinibandAddressing;
using sim::wire::Link;
using sim::wire::Opcode;
using sim::wire::Packet;
using sim::wire::RoceAddressing;
using Bytes = std::vector<uint8_t>;

constexpr size_t kIp = 14;

Bytes FrameWith(const Addressing& addressing) {
  Packet packet;
  packet.opcode = Opcode::kRcSendOnly;
  packet.payload.assign({1, 2, 3, 4, 5});
  return Encode(packet, addressing);
}

RoceAddressing Ipv6() {
  RoceAddressing at;
  at.source = {0xfe, 0x80, 1};
  at.target = {0xfe, 0x80, 2};
  return at;
}

InfinibandAddressing Global() {
  InfinibandAddressing at;
  at.global = GlobalRoute{};
  return at;
}

std::string TextOf(const Decoded& decoded) {
  const auto* error = std::get_if<DecodeError>(&decoded);
  return error == nullptr ? "decoded" : error->Text();
}

// A frame with one byte replaced, and what is to be said of it.
struct Edit {
  size_t offset;
  uint8_t value;
  const char* expected;
};

void ExpectRefused(Link link, const Bytes& frame, const std::vector<Edit>& edits) {
  BOOST_TEST(TextOf(Decode(link, frame)) == "decoded");
  for (const Edit& edit : edits) {
    Bytes bytes = frame;
    bytes[edit.offset] = edit.value;
    // The VCRC is on the outside: without its renewal nothing else is looked at.
    if (link == Link::kInfiniband) {
      const uint16_t vcrc = sim::wire::Vcrc(std::span(bytes).first(bytes.size() - 2));
      bytes[bytes.size() - 2] = static_cast<uint8_t>(vcrc);
      bytes[bytes.size() - 1] = static_cast<uint8_t>(vcrc >> 8);
    }
    BOOST_TEST(TextOf(Decode(link, bytes)) == edit.expected);
  }
}

BOOST_AUTO_TEST_CASE(AnIpv4HeaderOfSomethingElseIsRefused) {
  ExpectRefused(Link::kEthernet, FrameWith(RoceAddressing{}),
                {{12, 0x81, "Ethernet.type at byte 12: neither IPv4 nor IPv6"},
                 {14, 0x65, "IPv4.version at byte 14: not version 4 without options"},
                 {17, 19, "IPv4.length at byte 16: shorter than its header"},
                 {20, 0x20, "IPv4.fragment at byte 20: a fragment"},
                 {21, 1, "IPv4.fragment at byte 20: a fragment"},
                 {23, 6, "IPv4.protocol at byte 23: not UDP"},
                 {22, 63, "IPv4.checksum at byte 24: wrong"},
                 {25, 0, "IPv4.checksum at byte 24: wrong"}});
}

BOOST_AUTO_TEST_CASE(AnIpv6HeaderOfSomethingElseIsRefused) {
  ExpectRefused(Link::kEthernet, FrameWith(Ipv6()),
                {{14, 0x40, "IPv6.version at byte 14: not version 6"},
                 {20, 6, "IPv6.next_header at byte 20: not UDP"},
                 {19, 0, "UDP.length at byte 58: not that of the IP packet"}});
}

BOOST_AUTO_TEST_CASE(AnIpv4AddressInAnIpv6HeaderIsRefused) {
  Bytes bytes = FrameWith(Ipv6());
  const sim::wire::Gid mapped = sim::wire::MappedGid(10, 0, 0, 1);
  std::copy(mapped.begin(), mapped.end(), bytes.begin() + kIp + 24);
  BOOST_TEST(TextOf(Decode(Link::kEthernet, bytes)) ==
             "IPv6.target at byte 38: an IPv4 address in an IPv6 header");
}

BOOST_AUTO_TEST_CASE(AnotherUdpPacketIsRefused) {
  ExpectRefused(Link::kEthernet, FrameWith(RoceAddressing{}),
                {{37, 0, "UDP.target_port at byte 36: not RoCEv2's"},
                 {39, 8, "UDP.length at byte 38: not that of the IP packet"},
                 {41, 1, "UDP.checksum at byte 40: wrong"}});
}

// The frame with the UDP checksum that another sender would put there.
Bytes WithUdpChecksum(Bytes bytes, size_t udp, std::span<const uint8_t> addresses) {
  const auto datagram = std::span(bytes).subspan(udp);
  uint32_t sum = sim::wire::OnesSum(addresses) + 17 + static_cast<uint32_t>(datagram.size());
  sum = ~sim::wire::OnesSum(datagram, sum);
  bytes[udp + 6] = static_cast<uint8_t>(sum >> 8);
  bytes[udp + 7] = static_cast<uint8_t>(sum);
  return bytes;
}

BOOST_AUTO_TEST_CASE(AnUdpChecksumIsAllowed) {
  RoceAddressing at;
  at.source = sim::wire::MappedGid(192, 168, 3, 4);
  at.target = sim::wire::MappedGid(192, 168, 7, 9);
  const Bytes ipv4 = FrameWith(at);
  const Bytes ipv6 = FrameWith(Ipv6());
  const Bytes ipv4_sum = WithUdpChecksum(ipv4, kIp + 20, std::span(ipv4).subspan(kIp + 12, 8));
  const Bytes ipv6_sum = WithUdpChecksum(ipv6, kIp + 40, std::span(ipv6).subspan(kIp + 8, 32));
  BOOST_CHECK(ipv4 != ipv4_sum && ipv6 != ipv6_sum);
  ExpectRefused(Link::kEthernet, ipv4_sum, {{40, 0xee, "UDP.checksum at byte 40: wrong"}});
  ExpectRefused(Link::kEthernet, ipv6_sum, {{60, 0xee, "UDP.checksum at byte 60: wrong"}});
}

BOOST_AUTO_TEST_CASE(AnotherPacketOfInfinibandIsRefused) {
  ExpectRefused(Link::kInfiniband, FrameWith(InfinibandAddressing{}),
                {{0, 1, "LRH.virtual_lane at byte 0: the link version is not 0"},
                 {1, 0, "LRH.next_header at byte 1: not a transport packet"},
                 {5, 9, "LRH.length at byte 4: not that of the packet"},
                 {8, 5, "ICRC at byte 28: wrong"}});
  ExpectRefused(Link::kInfiniband, FrameWith(Global()),
                {{8, 0x40, "GRH.version at byte 8: not version 6"},
                 {13, 0, "GRH.length at byte 12: not that of the packet"},
                 {14, 17, "GRH.next_header at byte 14: not a BTH"},
                 {16, 1, "ICRC at byte 68: wrong"}});
}

BOOST_AUTO_TEST_CASE(AWrongVcrcIsRefusedFirst) {
  Bytes bytes = FrameWith(InfinibandAddressing{});
  bytes[0] ^= 1;
  BOOST_TEST(TextOf(Decode(Link::kInfiniband, bytes)) == "VCRC at byte 32: wrong");
}

BOOST_AUTO_TEST_CASE(ARouteWithoutAPacketIsRefused) {
  // An LRH, an ICRC and a VCRC, with nothing between them.
  Bytes bytes = {0, 2, 0, 1, 0, 3, 0, 2, 0, 0, 0, 0};
  const uint16_t vcrc = sim::wire::Vcrc(bytes);
  bytes.insert(bytes.end(), {static_cast<uint8_t>(vcrc), static_cast<uint8_t>(vcrc >> 8)});
  BOOST_TEST(TextOf(Decode(Link::kInfiniband, bytes)) ==
             "ICRC at byte 8: no room for a packet before it");
}

}  // namespace
}  // namespace ringpost
