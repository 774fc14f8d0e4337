// RC at the byte contract: what each operation does, segmented, signalled or not.
#include <boost/test/unit_test.hpp>

#include "tests/sim/nic/harness.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;
constexpr uint8_t kSignalled = abi::kCqeAlways;

void Fill(const Buffer& buffer, uint32_t bytes, uint8_t seed) {
  for (uint32_t i = 0; i < bytes; ++i) buffer.Bytes()[i] = static_cast<uint8_t>(i * 7 + seed);
}

struct RcFixture {
  RcFixture() : pipe(h.Connect({}, {.rq_depth = 16})) {
    source = h.Register(h.a, 0x4000);
    target = h.Register(h.b, 0x4000);
    Fill(source, 0x4000, 3);
  }
  // Runs to the end; the CQEs of the local side.
  std::vector<abi::Cqe> Finish() {
    BOOST_TEST_REQUIRE(h.Run());
    return h.Poll(pipe.local);
  }
  bool Same(uint32_t bytes) const {
    return std::memcmp(source.Bytes(), target.Bytes(), bytes) == 0;
  }

  Harness h;
  Pipe pipe;
  Buffer source, target;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(AWriteOfEveryLengthArrivesInMtuSizedPackets, RcFixture) {
  for (const uint32_t bytes : {1u, 8u, 1023u, 1024u, 1025u, 2048u, 5000u}) {
    Fill(source, bytes, static_cast<uint8_t>(bytes));
    const uint64_t before = h.a.nic.Count().packets_sent;
    h.Post(pipe.local, WqeBytes(Opcode::kRdmaWrite, kSignalled)
                           .Remote(target.address, target.key)
                           .Data(bytes, source.key, source.address));
    BOOST_TEST(Finish().size() == 1u);
    BOOST_TEST(Same(bytes));
    BOOST_TEST(h.a.nic.Count().packets_sent - before == (bytes + 1023) / 1024);
  }
}

BOOST_FIXTURE_TEST_CASE(AReadFetchesEveryLength, RcFixture) {
  for (const uint32_t bytes : {1u, 1024u, 1025u, 5000u}) {
    Fill(target, bytes, static_cast<uint8_t>(bytes));
    h.Post(pipe.local, WqeBytes(Opcode::kRdmaRead, kSignalled)
                           .Remote(target.address, target.key)
                           .Data(bytes, source.key, source.address));
    const auto cqes = Finish();
    BOOST_TEST_REQUIRE(cqes.size() == 1u);
    BOOST_TEST(!IsError(cqes[0]));
    BOOST_TEST(BytesOf(cqes[0]) == bytes);
    BOOST_TEST(Same(bytes));
  }
}

BOOST_FIXTURE_TEST_CASE(ASendFillsTheReceiveThatItTakes, RcFixture) {
  h.PostReceive(pipe.remote, {{target.address, target.key, 0x4000}});
  h.Post(pipe.local, WqeBytes(Opcode::kSendImm, kSignalled)
                         .Immediate(0x11223344)
                         .Data(3000, source.key, source.address));
  BOOST_TEST(Finish().size() == 1u);
  BOOST_TEST(Same(3000));
  const auto received = h.PollReceives(pipe.remote);
  BOOST_TEST_REQUIRE(received.size() == 1u);
  BOOST_TEST((OpcodeOf(received[0]) == abi::CqeOpcode::kResponderSendImm));
  BOOST_TEST(received[0].imm_inval_pkey == 0x11223344u);
  BOOST_TEST(BytesOf(received[0]) == 3000u);
}

BOOST_FIXTURE_TEST_CASE(AnAtomicHappensOnceAndReturnsTheOriginal, RcFixture) {
  const uint64_t start = 40;
  std::memcpy(target.Bytes(), &start, 8);
  h.Post(pipe.local, WqeBytes(Opcode::kAtomicFetchAdd, kSignalled)
                         .Remote(target.address, target.key)
                         .Big64(2)
                         .Big64(0)
                         .Data(8, source.key, source.address));
  BOOST_TEST(Finish().size() == 1u);
  BOOST_TEST(target.Word() == 42u);
  BOOST_TEST(source.Word() == 40u);
}

BOOST_FIXTURE_TEST_CASE(LossIsRepairedWithoutASecondEffect, RcFixture) {
  uint64_t number = 0;
  h.on_wire = [&](wire::Packet&) { return ++number % 4 != 0; };
  for (int i = 0; i < 20; ++i) {
    h.Post(pipe.local, WqeBytes(Opcode::kAtomicFetchAdd, kSignalled)
                           .Remote(target.address, target.key)
                           .Big64(1)
                           .Big64(0)
                           .Data(8, source.key, source.address + 8 * i));
  }
  const auto cqes = Finish();
  BOOST_TEST(cqes.size() == 20u);
  const uint64_t first = target.Word();
  for (int i = 1; i < 20; ++i) {
    uint64_t previous = 0, now = 0;
    std::memcpy(&previous, source.Bytes() + 8 * (i - 1), 8);
    std::memcpy(&now, source.Bytes() + 8 * i, 8);
    BOOST_TEST(now == previous + 1);
  }
  BOOST_TEST(first == 20u);
  BOOST_TEST(h.b.nic.Count().atomics_executed == 20u);
}

}  // namespace ringpost::sim
