#include "sim/service/packet_bytes.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/seed.h"
#include "tests/sim/wire/random_packet.h"

namespace ringpost {
namespace {

using sim::service::kMaxFieldBytes;
using sim::service::PackFields;
using sim::service::UnpackedFields;
using sim::service::UnpackFields;
using sim::wire::Packet;

BOOST_AUTO_TEST_SUITE(PacketBytesTest)

BOOST_AUTO_TEST_CASE(EveryOpcodeKeepsItsFields) {
  std::mt19937_64 random(TestSeed());
  for (const sim::wire::Opcode opcode : AllOpcodes()) {
    Packet sent = RandomPacket(random, opcode, 100);
    std::array<uint8_t, kMaxFieldBytes> bytes;
    const size_t count = PackFields(sent, 7, bytes);
    Packet received = RandomPacket(random, sim::wire::Opcode::kDcMaskedFetchAdd, 0);
    const UnpackedFields fields = UnpackFields(std::span(bytes).first(count), received);
    BOOST_TEST(fields.field_bytes == count);
    BOOST_TEST(fields.payload_bytes == sent.payload.size());
    BOOST_TEST(fields.source == 7);
    sent.payload.clear();
    BOOST_TEST((received == sent), "opcode " << static_cast<int>(opcode));
  }
}

BOOST_AUTO_TEST_CASE(FewerBytesThanTheFieldsAreNoPacket) {
  std::mt19937_64 random(TestSeed());
  for (const sim::wire::Opcode opcode : AllOpcodes()) {
    std::array<uint8_t, kMaxFieldBytes> bytes;
    const size_t count = PackFields(RandomPacket(random, opcode, 0), 0, bytes);
    Packet packet;
    for (size_t n = 0; n < count; ++n) {
      BOOST_TEST(UnpackFields(std::span(bytes).first(n), packet).field_bytes == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(RandomBytesNeverClaimMoreThanAnMtu) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 100'000; ++i) {
    std::array<uint8_t, kMaxFieldBytes> bytes;
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    Packet packet;
    const UnpackedFields fields =
        UnpackFields(std::span(bytes).first(random() % (bytes.size() + 1)), packet);
    BOOST_REQUIRE(fields.field_bytes <= bytes.size());
    BOOST_REQUIRE(fields.payload_bytes <= 4096);
    BOOST_REQUIRE(fields.field_bytes == 0 || IsKnown(packet.opcode));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost
