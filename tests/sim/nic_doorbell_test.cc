// Doorbells, the ring and the WQEs in it (mlx5 contract, sections 1 and 2).
#include <boost/test/unit_test.hpp>

#include "tests/sim/nic_fixture.h"

namespace ringpost::sim {
namespace {

uint64_t LastWqeDoorbell(const NicFixture& nic, uint64_t index, uint32_t segments) {
  return abi::ControlWord(abi::Opcode::kRdmaWrite, index & 0xffff, nic.qp->qpn, segments);
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(ADoorbellWithTheProducerIndexAnnouncesAllWqesBeforeIt, NicFixture) {
  for (uint64_t i = 0; i < 3; ++i) StorePointer(i, abi::Opcode::kRdmaWrite, 8);
  BOOST_TEST(RingProducer(3) == qp);
  BOOST_TEST(RunAll() == 3u);
}

BOOST_FIXTURE_TEST_CASE(ADoorbellWithTheLastWqesOwnBytesAnnouncesThatWqeToo, NicFixture) {
  StoreInline(0, std::string(100, 'x'));  // ds 9: three blocks
  BOOST_TEST(local.RingDoorbell(LastWqeDoorbell(*this, 0, 9)) == qp);
  BOOST_TEST(qp->producer == 3u);
  StorePointer(3, abi::Opcode::kRdmaWrite, 8);
  BOOST_TEST(local.RingDoorbell(LastWqeDoorbell(*this, 3, 3)) == qp);
  BOOST_TEST(RunAll() == 2u);
  BOOST_TEST(qp->fetched == 4u);
}

BOOST_FIXTURE_TEST_CASE(ASkippedDoorbellIsMadeUpForByTheNextOne, NicFixture) {
  for (uint64_t i = 0; i < 5; ++i) StorePointer(i, abi::Opcode::kRdmaWrite, 8);
  RingProducer(1);
  RingProducer(5);
  BOOST_TEST(RunAll() == 5u);
}

BOOST_FIXTURE_TEST_CASE(ARepeatedOrOlderDoorbellAnnouncesNothing, NicFixture) {
  for (uint64_t i = 0; i < 2; ++i) StorePointer(i, abi::Opcode::kRdmaWrite, 8);
  RingProducer(2);
  BOOST_TEST(RunAll() == 2u);
  BOOST_TEST(RingProducer(2) == nullptr);
  BOOST_TEST(RingProducer(1) == nullptr);
  BOOST_TEST(RunAll() == 0u);
  BOOST_TEST(local.Count().doorbells == 3u);
  BOOST_TEST(local.Count().doorbells_merged == 2u);
}

BOOST_FIXTURE_TEST_CASE(ADoorbellForAnotherQpIsLost, NicFixture) {
  BOOST_TEST(local.RingDoorbell(abi::ProducerDoorbell(1, qp->qpn + 1)) == nullptr);
  BOOST_TEST(local.RingDoorbell(abi::ProducerDoorbell(1, 0)) == nullptr);
  BOOST_TEST(RunAll() == 0u);
}

BOOST_FIXTURE_TEST_CASE(NothingIsFetchedBeyondTheProducerIndex, NicFixture) {
  for (uint64_t i = 0; i < 4; ++i) StorePointer(i, abi::Opcode::kRdmaWrite, 8);
  RingProducer(2);
  BOOST_TEST(RunAll() == 2u);
  for (const ByteDma::Use& use : dma.uses) {
    BOOST_TEST((use.purpose != Purpose::kWqe || use.address < kSq + 2 * 64));
  }
}

BOOST_FIXTURE_TEST_CASE(AWqeThatReachesBeyondTheProducerIndexFails, NicFixture) {
  StoreInline(0, std::string(100, 'x'));
  RingProducer(1);
  BOOST_TEST(RunAll() == 1u);
  BOOST_TEST((SyndromeOf(dma.cqes.at(0)) == abi::Syndrome::kLocalQpOperation));
  BOOST_TEST(dma.writes == 0u);
}

BOOST_AUTO_TEST_CASE(TheProducerIndexWrapsAt65536) {
  NicFixture nic(8);
  constexpr uint64_t kTotal = 70000;
  for (uint64_t i = 0; i < kTotal; i += 4) {
    for (uint64_t j = i; j < i + 4; ++j) nic.StoreInline(j, std::to_string(100000 + j));
    BOOST_REQUIRE(nic.RingProducer(i + 4) == nic.qp);
    BOOST_REQUIRE_EQUAL(nic.RunAll(), 4u);
    BOOST_REQUIRE_EQUAL(CounterOf(nic.dma.cqes.back()), (i + 3) & 0xffff);
    BOOST_REQUIRE_EQUAL(nic.TargetBytes(0, 6), std::to_string(100000 + i + 3));
  }
  BOOST_TEST(nic.qp->producer == kTotal);
  BOOST_TEST(nic.dma.cqes.size() == kTotal);
  BOOST_TEST(nic.local.Count().wqe_index_mismatches == 0u);
}

BOOST_FIXTURE_TEST_CASE(TheIndexInTheRingIsNotTrusted, NicFixture) {
  StorePointer(0, abi::Opcode::kRdmaWrite, 8);
  Store(0, {abi::ControlSegmentOf(abi::Opcode::kRdmaWrite, 1000, qp->qpn, 3, abi::kCqeAlways)});
  RingProducer(1);
  RunAll();
  BOOST_TEST(CounterOf(dma.cqes.at(0)) == 0u);
  BOOST_TEST(local.Count().wqe_index_mismatches == 1u);
}

BOOST_AUTO_TEST_CASE(AWqeOfSeveralBlocksWrapsAtTheEndOfTheRing) {
  NicFixture nic(8);
  std::string payload;
  for (int i = 0; i < 200; ++i) payload += static_cast<char>('a' + i % 26);
  for (uint64_t i = 0; i < 7; ++i) nic.StorePointer(i, abi::Opcode::kRdmaWrite, 8);
  nic.RingProducer(7);
  BOOST_TEST(nic.RunAll() == 7u);
  nic.StoreInline(7, payload);  // ds 15: blocks 7, 0, 1 and 2
  nic.RingProducer(11);
  BOOST_TEST(nic.RunAll() == 1u);
  BOOST_TEST(nic.TargetBytes(0, payload.size()) == payload);
  BOOST_TEST(CounterOf(nic.dma.cqes.back()) == 7u);
  BOOST_TEST(nic.qp->fetched == 11u);
  BOOST_TEST(nic.local.Count().ring_overruns == 0u);
}

BOOST_FIXTURE_TEST_CASE(InlinePayloadsOfEveryLengthArriveUnchanged, NicFixture) {
  uint64_t index = 0;
  for (uint32_t bytes = 1; bytes <= 220; ++bytes) {
    std::string payload;
    for (uint32_t i = 0; i < bytes; ++i) payload += static_cast<char>(i * 7 + bytes);
    std::memset(dma.At(kTarget), 0xee, 256);
    StoreInline(index, payload);
    index += abi::WqebbsOf(2 + abi::InlineSegments(bytes));
    RingProducer(index);
    BOOST_REQUIRE_EQUAL(RunAll(), 1u);
    BOOST_REQUIRE(TargetBytes(0, bytes) == payload);
    BOOST_REQUIRE_EQUAL(*dma.At(kTarget + bytes), 0xee);
  }
}

BOOST_FIXTURE_TEST_CASE(AnInlineLengthThatDoesNotFitItsWqeFails, NicFixture) {
  StoreInline(0, "0123456789ab");
  const uint32_t header = abi::Swap32(13 | abi::kInlineFlag);
  std::memcpy(dma.At(kSq + 32), &header, sizeof(header));
  RingProducer(1);
  RunAll();
  BOOST_TEST((SyndromeOf(dma.cqes.at(0)) == abi::Syndrome::kLocalQpOperation));
  BOOST_TEST(dma.writes == 0u);
}

BOOST_FIXTURE_TEST_CASE(AWriteOfLengthZeroHasNoDataSegmentAndNeedsNoKey, NicFixture) {
  Store(0, {Control(abi::Opcode::kRdmaWrite, 0, 2, abi::kCqeAlways),
            abi::RemoteAddressOf(kTarget, 0)});
  RingProducer(1);
  Work work;
  BOOST_TEST(RunOne(work));
  BOOST_TEST(work.packets == 1u);
  BOOST_TEST((OpcodeOf(dma.cqes.at(0)) == abi::CqeOpcode::kRequester));
  BOOST_TEST(dma.writes == 0u);
}

BOOST_FIXTURE_TEST_CASE(AnUnknownOpcodeIsALocalQpOperationError, NicFixture) {
  StorePointer(0, static_cast<abi::Opcode>(0x3e), 8);
  RingProducer(1);
  RunAll();
  BOOST_TEST((OpcodeOf(dma.cqes.at(0)) == abi::CqeOpcode::kRequesterError));
  BOOST_TEST((SyndromeOf(dma.cqes.at(0)) == abi::Syndrome::kLocalQpOperation));
  BOOST_TEST((ByteOf(dma.cqes.at(0), 56) == 0x3e));
  BOOST_TEST((qp->state == QpState::kError));
}

BOOST_FIXTURE_TEST_CASE(AMessageTakesOnePacketForEachMtuAndItsPsnsFollow, NicFixture) {
  const uint64_t big = local.Keys().Register(kSq, 0x10000, kLocalWrite);
  constexpr uint32_t kSizes[] = {1, 4096, 4097, 12288};
  constexpr uint32_t kPackets[] = {1, 1, 2, 3};
  uint32_t psn = 0;
  for (uint64_t i = 0; i < 4; ++i) {
    Store(i, {Control(abi::Opcode::kRdmaWrite, i, 3, abi::kCqeAlways),
              abi::RemoteAddressOf(kTarget, rkey),
              abi::DataOf(kSizes[i], static_cast<uint32_t>(big), kSq)});
    RingProducer(i + 1);
    Work work;
    BOOST_REQUIRE(local.FetchNext(*qp, work));
    BOOST_TEST(work.packets == kPackets[i]);
    BOOST_TEST(work.psn == psn);
    psn += work.packets;
  }
}

BOOST_FIXTURE_TEST_CASE(AnnouncingMoreThanTheRingHoldsIsCounted, NicFixture) {
  RingProducer(16);
  BOOST_TEST(local.Count().ring_overruns == 0u);
  RingProducer(17);
  BOOST_TEST(local.Count().ring_overruns == 1u);
}

}  // namespace ringpost::sim
