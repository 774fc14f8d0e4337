// The part of a packet that every carrier shares: what it refuses although all checksums hold.
#include "sim/wire/transport_headers.h"

#include <boost/test/unit_test.hpp>

#include "tests/seed.h"
#include "tests/sim/wire/random_packet.h"

namespace ringpost {
namespace {

using sim::wire::ByteReader;
using sim::wire::ByteWriter;
using sim::wire::DecodeTransport;
using sim::wire::EncodeTransport;
using sim::wire::Opcode;
using sim::wire::Packet;
using Bytes = std::vector<uint8_t>;

Bytes BytesOf(const Packet& packet) {
  ByteWriter writer;
  EncodeTransport(packet, writer);
  return writer.Release();
}

// What is wrong with these bytes; empty if nothing is.
std::string ErrorOf(const Bytes& bytes) {
  ByteReader reader(bytes);
  DecodeTransport(reader);
  return reader.Failed() ? reader.Error()->Text() : "";
}

Bytes BytesOfOnly(Opcode opcode, size_t payload_bytes = 0) {
  Packet packet;
  packet.opcode = opcode;
  packet.payload.resize(payload_bytes);
  return BytesOf(packet);
}

BOOST_AUTO_TEST_CASE(AnUnknownOpcodeIsRefused) {
  Bytes bytes = BytesOfOnly(Opcode::kRcSendOnly);
  for (int opcode = 0; opcode < 256; ++opcode) {
    if (IsKnown(static_cast<Opcode>(opcode))) continue;
    bytes[0] = static_cast<uint8_t>(opcode);
    BOOST_TEST(ErrorOf(bytes) == "BTH.opcode at byte 0: no such opcode");
  }
}

BOOST_AUTO_TEST_CASE(AnotherTransportVersionIsRefused) {
  Bytes bytes = BytesOfOnly(Opcode::kRcSendOnly);
  bytes[1] |= 1;
  BOOST_TEST(ErrorOf(bytes) == "BTH.flags at byte 1: the transport version is not 0");
}

BOOST_AUTO_TEST_CASE(MorePaddingThanPayloadIsRefused) {
  Bytes bytes = BytesOfOnly(Opcode::kRcSendOnly);
  bytes[1] |= 0x30;
  BOOST_TEST(ErrorOf(bytes) == "payload at byte 12: shorter than its padding");
}

BOOST_AUTO_TEST_CASE(APayloadWhereNoneBelongsIsRefused) {
  Bytes bytes = BytesOfOnly(Opcode::kRcAck);
  bytes.resize(bytes.size() + 4);
  BOOST_TEST(ErrorOf(bytes) == "payload at byte 16: this opcode has none");
}

BOOST_AUTO_TEST_CASE(APayloadAboveTheLargestMtuIsRefused) {
  Bytes bytes = BytesOfOnly(Opcode::kRcSendOnly, 4096);
  BOOST_TEST(ErrorOf(bytes) == "");
  bytes.resize(bytes.size() + 4);
  BOOST_TEST(ErrorOf(bytes) == "payload at byte 12: longer than the largest MTU");
}

BOOST_AUTO_TEST_CASE(APacketOfBrokenWordsIsRefused) {
  Bytes bytes = BytesOfOnly(Opcode::kRcSendOnly, 8);
  bytes.pop_back();
  BOOST_TEST(ErrorOf(bytes) == "payload at byte 12: it and its padding are not whole words");
}

BOOST_AUTO_TEST_CASE(AnAtomicOfAnotherSizeIsRefused) {
  Bytes bytes = BytesOfOnly(Opcode::kRcMaskedFetchAdd);
  bytes[27] = 2;
  BOOST_TEST(ErrorOf(bytes) == "AtomicETH.bytes at byte 24: neither 4 nor 8");
}

BOOST_AUTO_TEST_CASE(ReservedBitsAreIgnored) {
  std::mt19937_64 random(TestSeed());
  const Packet packet = RandomPacket(random, Opcode::kUdSendOnly, 9);
  Bytes bytes = BytesOf(packet);
  bytes[4] |= 0x3f;   // beside FECN and BECN
  bytes[8] |= 0x7f;   // beside the ACK request
  bytes[16] |= 0xff;  // before the DETH's QPN
  ByteReader reader(bytes);
  BOOST_CHECK(DecodeTransport(reader) == packet);
}

BOOST_AUTO_TEST_CASE(AnImmediateKeepsTheBytesOfMemory) {
  Packet packet;
  packet.opcode = Opcode::kRcSendOnlyImmediate;
  const uint8_t stored[4] = {1, 2, 3, 4};
  std::memcpy(&packet.immediate, stored, sizeof stored);
  const Bytes bytes = BytesOf(packet);
  BOOST_TEST(std::vector<uint8_t>(bytes.end() - 4, bytes.end()) == Bytes({1, 2, 3, 4}),
             boost::test_tools::per_element());
}

}  // namespace
}  // namespace ringpost
