// Packets as bytes: what real devices sent, what the specification prints, and random ones.
#include "sim/wire/codec.h"

#include <boost/test/unit_test.hpp>
#include <set>

#include "sim/wire/checksum.h"
#include "tests/seed.h"
#include "tests/sim/wire/capture.h"
#include "tests/sim/wire/random_packet.h"

namespace ringpost {
namespace {

using sim::wire::Addressing;
using sim::wire::Decode;
using sim::wire::Decoded;
using sim::wire::DecodeError;
using sim::wire::Encode;
using sim::wire::Frame;
using sim::wire::InfinibandAddressing;
using sim::wire::Link;
using sim::wire::Opcode;
using sim::wire::Packet;
using sim::wire::RoceAddressing;
using Bytes = std::vector<uint8_t>;

std::string TextOf(const Decoded& decoded) {
  const auto* error = std::get_if<DecodeError>(&decoded);
  return error == nullptr ? "decoded" : error->Text();
}

void ExpectSameBytesAgain(Link link, const Bytes& bytes) {
  const Decoded decoded = Decode(link, bytes);
  const auto* frame = std::get_if<Frame>(&decoded);
  BOOST_REQUIRE_MESSAGE(frame != nullptr, TextOf(decoded));
  BOOST_TEST(Encode(frame->packet, frame->addressing) == bytes, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(FramesOfLinuxAreEncodedAgainByteForByte) {
  for (const char* file : {"rxe_rc_ipv4.pcap", "rxe_rc_ipv6.pcap"}) {
    const Capture capture = ReadCapture(std::string("tests/data/pcap/") + file);
    BOOST_TEST(capture.error == "");
    BOOST_TEST(capture.frames.size() == 56u);
    for (const CapturedFrame& frame : capture.frames) {
      ExpectSameBytesAgain(Link::kEthernet, frame.bytes);
    }
  }
}

BOOST_AUTO_TEST_CASE(FramesOfLinuxHoldEveryKindOfOperation) {
  std::set<Opcode> seen;
  for (const CapturedFrame& frame : ReadCapture("tests/data/pcap/rxe_rc_ipv4.pcap").frames) {
    const Decoded decoded = Decode(Link::kEthernet, frame.bytes);
    if (const auto* known = std::get_if<Frame>(&decoded)) seen.insert(known->packet.opcode);
  }
  for (const Opcode opcode :
       {Opcode::kRcSendFirst, Opcode::kRcSendOnlyImmediate, Opcode::kRcWriteLast,
        Opcode::kRcWriteOnlyImmediate, Opcode::kRcReadRequest, Opcode::kRcReadResponseMiddle,
        Opcode::kRcAck, Opcode::kRcAtomicAck, Opcode::kRcCompareSwap, Opcode::kRcFetchAdd,
        Opcode::kUcSendOnly, Opcode::kUcWriteFirst, Opcode::kUdSendOnly}) {
    BOOST_TEST(seen.contains(opcode), "opcode " << static_cast<int>(opcode));
  }
}

// Section 7.8 of the IBA specification prints this packet and its ICRC.
const Bytes kSample = {0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87,
                       0x00, 0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c,
                       0x01, 0x5d, 0x40, 0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e,
                       0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69,
                       0x0e, 0xd4, 0x00, 0x00, 0x96, 0x25, 0xb7, 0x5a};

BOOST_AUTO_TEST_CASE(TheSamplePacketOfTheSpecificationIsReproduced) {
  Packet packet;
  packet.opcode = Opcode::kRcWriteOnly;
  packet.migrated = false;
  packet.pkey = 0x2487;
  packet.dest_qpn = 0x87b1b3;
  packet.psn = 0x0dec2a;
  packet.remote_address = 0x01710a1c015d4002;
  packet.remote_key = 0x38f27a05;
  packet.dma_length = 14;
  packet.payload.assign(kSample.begin() + 36, kSample.begin() + 50);
  InfinibandAddressing at;
  at.virtual_lane = 7;
  at.service_level = 1;
  at.target_lid = 0x375c;
  at.source_lid = 0x17d2;
  Bytes bytes = Encode(packet, at);
  BOOST_REQUIRE_EQUAL(bytes.size(), kSample.size() + sim::wire::kVcrcBytes);
  bytes.resize(kSample.size());
  BOOST_TEST(bytes == kSample, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(EveryOpcodeComesBackOnEveryCarrier) {
  std::mt19937_64 random(TestSeed());
  for (const Carrier carrier : kCarriers) {
    for (const Opcode opcode : AllOpcodes()) {
      for (const size_t bytes : {0, 3, 64, 4096}) {
        const Packet packet = RandomPacket(random, opcode, bytes);
        const Addressing addressing = RandomAddressing(random, carrier);
        const Decoded decoded = Decode(LinkOf(carrier), Encode(packet, addressing));
        BOOST_REQUIRE_MESSAGE(std::holds_alternative<Frame>(decoded), TextOf(decoded));
        BOOST_CHECK((std::get<Frame>(decoded) == Frame{packet, addressing}));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ALargestPayloadComesBack) {
  std::mt19937_64 random(TestSeed());
  Packet packet = RandomPacket(random, Opcode::kDcWriteOnlyImmediate, 0);
  packet.payload.resize(4096, 0xab);
  for (const Carrier carrier : kCarriers) {
    const Addressing addressing = RandomAddressing(random, carrier);
    const Decoded decoded = Decode(LinkOf(carrier), Encode(packet, addressing));
    BOOST_REQUIRE_MESSAGE(std::holds_alternative<Frame>(decoded), TextOf(decoded));
    BOOST_CHECK((std::get<Frame>(decoded) == Frame{packet, addressing}));
  }
}

// Without what switches and routers may change, which the ICRC leaves out.
Frame Invariant(Frame frame) {
  frame.packet.fecn = frame.packet.becn = false;
  if (auto* roce = std::get_if<RoceAddressing>(&frame.addressing)) {
    roce->source_mac = roce->target_mac = {};
    roce->dscp = roce->ecn = roce->ttl = 0;
    roce->flow_label = 0;
  }
  if (auto* native = std::get_if<InfinibandAddressing>(&frame.addressing)) {
    native->virtual_lane = 0;
    if (native->global) {
      native->source_lid = native->target_lid = native->service_level = 0;
      native->global->traffic_class = native->global->hop_limit = 0;
      native->global->flow_label = 0;
    }
  }
  return frame;
}

// Calls check(original, bytes) for each frame, of every opcode and carrier.
template <class Check>
void ForEachFrame(Check check) {
  std::mt19937_64 random(TestSeed());
  for (const Carrier carrier : kCarriers) {
    for (const Opcode opcode : AllOpcodes()) {
      const Frame frame{RandomPacket(random, opcode, 20), RandomAddressing(random, carrier)};
      check(LinkOf(carrier), frame, Encode(frame.packet, frame.addressing));
    }
  }
}

// Returns how many flipped bits went unnoticed in what nobody may change.
template <class Repair>
int CountUnnoticed(Link link, const Frame& frame, Bytes bytes, Repair repair) {
  int unnoticed = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Bytes flipped = bytes;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    repair(flipped);
    const Decoded decoded = Decode(link, flipped);
    const auto* got = std::get_if<Frame>(&decoded);
    if (got != nullptr && !(Invariant(*got) == Invariant(frame))) ++unnoticed;
  }
  return unnoticed;
}

BOOST_AUTO_TEST_CASE(AFlippedBitIsRefusedUnlessARouterMayFlipIt) {
  ForEachFrame([](Link link, const Frame& frame, const Bytes& bytes) {
    BOOST_TEST(CountUnnoticed(link, frame, bytes, [](Bytes&) {}) == 0);
  });
}

BOOST_AUTO_TEST_CASE(AFlippedBitIsRefusedByTheIcrcWhereTheVcrcWasRenewed) {
  ForEachFrame([](Link link, const Frame& frame, const Bytes& bytes) {
    if (link != Link::kInfiniband) return;
    const auto renew = [](Bytes& flipped) {
      const uint16_t vcrc = sim::wire::Vcrc(std::span(flipped).first(flipped.size() - 2));
      flipped[flipped.size() - 2] = static_cast<uint8_t>(vcrc);
      flipped[flipped.size() - 1] = static_cast<uint8_t>(vcrc >> 8);
    };
    BOOST_TEST(CountUnnoticed(link, frame, bytes, renew) == 0);
  });
}

BOOST_AUTO_TEST_CASE(EveryFlippedBitIsRefusedByTheVcrc) {
  ForEachFrame([](Link link, const Frame&, const Bytes& bytes) {
    if (link != Link::kInfiniband) return;
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      Bytes flipped = bytes;
      flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      BOOST_TEST(std::holds_alternative<DecodeError>(Decode(link, flipped)));
    }
  });
}

BOOST_AUTO_TEST_CASE(AFrameCutAtAnyLengthIsRefused) {
  ForEachFrame([](Link link, const Frame&, const Bytes& bytes) {
    for (size_t length = 0; length < bytes.size(); ++length) {
      // A vector of its own: AddressSanitizer sees a read past its end.
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
      BOOST_TEST(std::holds_alternative<DecodeError>(Decode(link, cut)), "length " << length);
    }
  });
}

BOOST_AUTO_TEST_CASE(OnlyTheShortestEthernetFrameMayBePadded) {
  ForEachFrame([](Link link, const Frame& frame, Bytes bytes) {
    bytes.push_back(0);
    const Decoded decoded = Decode(link, bytes);
    const bool may_be_padded = link == Link::kEthernet && bytes.size() <= 60;
    BOOST_TEST(std::holds_alternative<Frame>(decoded) == may_be_padded, TextOf(decoded));
    if (may_be_padded) BOOST_CHECK(std::get<Frame>(decoded) == frame);
  });
}

BOOST_AUTO_TEST_CASE(AnErrorNamesTheFieldAndItsPlace) {
  Packet packet;
  packet.opcode = Opcode::kRcSendOnly;
  Bytes bytes = Encode(packet, RoceAddressing{});
  BOOST_TEST(TextOf(Decode(Link::kEthernet, Bytes{})) ==
             "Ethernet.target at byte 0: the packet ends before or within it");
  bytes.back() ^= 1;
  BOOST_TEST(TextOf(Decode(Link::kEthernet, bytes)) == "ICRC at byte 54: wrong");
  bytes[14] = 0x46;
  BOOST_TEST(TextOf(Decode(Link::kEthernet, bytes)) ==
             "IPv4.version at byte 14: not version 4 without options");
  bytes[13] = 6;
  BOOST_TEST(TextOf(Decode(Link::kEthernet, bytes)) ==
             "Ethernet.type at byte 12: neither IPv4 nor IPv6");
}

}  // namespace
}  // namespace ringpost
