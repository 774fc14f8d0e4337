// Atomics: what they do to the target, in which byte order operands and results stand, and that
// each happens once (contract, section 1.5).
#include "sim/nic/atomics.h"

#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;
constexpr uint8_t kFour = 0x08, kEight = 0x09;

struct AtomicFixture : RcFixture {
  void Set(uint64_t value) { std::memcpy(target.Bytes(), &value, 8); }
  WqeBytes Start(Opcode opcode, uint8_t opmod = 0) const {
    WqeBytes wqe(opcode, kSignalled, opmod);
    return wqe.Remote(target.address, target.key);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(FetchAddOf8BytesReturnsALittleEndianOriginal, AtomicFixture) {
  Set(0x1122334455667788);
  BOOST_TEST(BytesOf(Do(FetchAdd(1))) == 8u);
  BOOST_TEST(target.Word() == 0x1122334455667789u);
  BOOST_TEST(source.Word() == 0x1122334455667788u);
}

BOOST_FIXTURE_TEST_CASE(CompareSwapSwapsOnAMatchAlone, AtomicFixture) {
  for (const uint64_t compare : {uint64_t{5}, uint64_t{6}}) {
    Set(5);
    Do(Start(Opcode::kAtomicCompareSwap)
           .Big64(77)
           .Big64(compare)
           .Data(8, source.key, source.address));
    BOOST_TEST(target.Word() == (compare == 5 ? 77u : 5u));
    BOOST_TEST(source.Word() == 5u);
  }
}

BOOST_FIXTURE_TEST_CASE(MaskedFetchAddOf4BytesReturnsABigEndianOriginal, AtomicFixture) {
  Set(0xaaaaaaaa00000010);
  Do(Start(Opcode::kAtomicMaskedFetchAdd, kFour)
         .Big32(5)
         .Big32(0)
         .Big64(0)
         .Data(4, source.key, source.address));
  BOOST_TEST(target.Word() == 0xaaaaaaaa00000015u);
  BOOST_TEST(abi::Swap32(static_cast<uint32_t>(source.Word(4))) == 0x10u);
}

BOOST_FIXTURE_TEST_CASE(MaskedCompareSwapOf4BytesTakesFourOperands, AtomicFixture) {
  Set(0x12345678);
  Do(Start(Opcode::kAtomicMaskedCompareSwap, kFour)
         .Big32(0xffffffff)
         .Big32(0x00005600)
         .Big32(0x000000ff)
         .Big32(0x0000ff00)
         .Data(4, source.key, source.address));
  BOOST_TEST(target.Word() == 0x123456ffu);
}

BOOST_FIXTURE_TEST_CASE(MaskedCompareSwapOf8BytesSpansTwoBlocksAlsoAtTheRingsEnd, AtomicFixture) {
  for (uint32_t i = 0; i < 70; ++i) {
    Set(i);
    if (i % 2 == 1) Do(WqeBytes(Opcode::kNop, kSignalled));
    Do(Start(Opcode::kAtomicMaskedCompareSwap, kEight)
           .Big64(0xff00ff00ff00ff00)
           .Big64(0)
           .Big64(0xffff000000000000)
           .Big64(0)
           .Data(8, source.key, source.address));
    BOOST_TEST_REQUIRE(target.Word() == (0xff00000000000000 | i));
    BOOST_TEST_REQUIRE(source.Word() == i);
  }
}

BOOST_AUTO_TEST_CASE(AnAdditionInFieldsCarriesNotAcrossTheirBoundaries) {
  BOOST_TEST(AddInFields(0xff, 1, 0) == 0x100u);
  BOOST_TEST(AddInFields(0xff, 1, 0x80) == 0u);
  BOOST_TEST(AddInFields(0xf0f0, 0x1010, 0x8080) == 0x0000u);
  BOOST_TEST(AddInFields(0x1234, 0xff, ~uint64_t{0}) == (0x1234u ^ 0xffu));
  BOOST_TEST(AddInFields(~uint64_t{0}, 1, uint64_t{1} << 63) == 0u);
}

BOOST_FIXTURE_TEST_CASE(AnAtomicMustBeAligned, AtomicFixture) {
  const abi::Cqe cqe = Do(FetchAdd(1, 4));
  BOOST_TEST(SyndromeOf(cqe) == static_cast<int>(abi::Syndrome::kRemoteInvalidRequest));
}

BOOST_FIXTURE_TEST_CASE(AnAtomicNeedsItsRight, AtomicFixture) {
  target = h.Register(h.b, 64, kMayWriteRemotely | kMayReadRemotely);
  BOOST_TEST(SyndromeOf(Do(FetchAdd(1))) == static_cast<int>(abi::Syndrome::kRemoteAccess));
}

BOOST_FIXTURE_TEST_CASE(ALostAnswerIsReplayedAndTheAtomicNotRepeated, AtomicFixture) {
  Set(0);
  int answers = 0;
  h.on_wire = [&](wire::Packet& packet) {
    if (packet.opcode != wire::Opcode::kRcAtomicAck || answers == 16) return true;
    ++answers;
    return false;
  };
  for (uint64_t i = 0; i < 16; ++i) {
    source.address += 8;
    h.Store(pipe.local, FetchAdd(1));
  }
  source.address -= 16 * 8;
  h.SetRecord(pipe.local);
  h.Ring(pipe.local);
  BOOST_TEST(Finish().size() == 16u);
  BOOST_TEST(target.Word() == 16u);
  BOOST_TEST(h.b.nic.Count().atomics_executed == 16u);
  BOOST_TEST(h.b.nic.Count().atomics_replayed == 16u);
  for (uint64_t i = 0; i < 16; ++i) {
    uint64_t original = 0;
    std::memcpy(&original, source.Bytes() + 8 * (i + 1), 8);
    BOOST_TEST(original == i);
  }
}

BOOST_FIXTURE_TEST_CASE(AMaskedOperationWithAnImpossibleSizeIsRefused, AtomicFixture) {
  const abi::Cqe cqe = Do(Start(Opcode::kAtomicMaskedFetchAdd, 0x0a)
                              .Big64(1)
                              .Big64(0)
                              .Data(8, source.key, source.address));
  BOOST_TEST(SyndromeOf(cqe) == static_cast<int>(abi::Syndrome::kLocalQpOperation));
}

}  // namespace ringpost::sim
