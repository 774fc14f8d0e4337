// Keys, completions and what follows an error (mlx5 contract, sections 3 and 8).
#include <boost/test/unit_test.hpp>

#include "tests/sim/nic_fixture.h"

namespace ringpost::sim {
namespace {

// A write to `address` with `key`: the syndrome of its CQE, kNone if it was done.
abi::Syndrome WriteTo(uint64_t address, uint32_t key, uint32_t bytes, uint8_t rights) {
  NicFixture nic;
  const uint32_t rkey = nic.remote.Keys().Register(NicFixture::kTarget, 0x100, rights);
  nic.Store(0, {nic.Control(abi::Opcode::kRdmaWrite, 0, 3, abi::kCqeAlways),
                abi::RemoteAddressOf(address, key == 0 ? rkey : key),
                abi::DataOf(bytes, nic.lkey, NicFixture::kSource)});
  nic.RingProducer(1);
  nic.RunAll();
  const abi::Cqe& cqe = nic.dma.cqes.at(0);
  if (OpcodeOf(cqe) != abi::CqeOpcode::kRequesterError) return abi::Syndrome::kNone;
  BOOST_TEST(nic.dma.writes == 0u);
  BOOST_TEST((nic.peer->state == QpState::kError));
  BOOST_TEST(ByteOf(cqe, abi::kErrorVendorSyndromeOffset) == 0x88);
  return SyndromeOf(cqe);
}

constexpr uint64_t kTarget = NicFixture::kTarget;
constexpr auto kDone = abi::Syndrome::kNone;
constexpr auto kRefused = abi::Syndrome::kRemoteAccess;

}  // namespace

BOOST_AUTO_TEST_CASE(ARemoteWriteMustLieWithinItsKeysRange) {
  BOOST_TEST((WriteTo(kTarget, 0, 0x100, kRemoteWrite) == kDone));
  BOOST_TEST((WriteTo(kTarget + 0xf8, 0, 8, kRemoteWrite) == kDone));
  BOOST_TEST((WriteTo(kTarget + 0xf9, 0, 8, kRemoteWrite) == kRefused));
  BOOST_TEST((WriteTo(kTarget - 1, 0, 8, kRemoteWrite) == kRefused));
  BOOST_TEST((WriteTo(kTarget, 0, 0x101, kRemoteWrite) == kRefused));
}

BOOST_AUTO_TEST_CASE(AddressPlusLengthThatWrapsIsRefused) {
  BOOST_TEST((WriteTo(~0ull - 3, 0, 8, kRemoteWrite) == kRefused));
  BOOST_TEST((WriteTo(~0ull, 0, 0x100, kRemoteWrite) == kRefused));
  KeyTable keys;
  const uint32_t key = keys.Register(0x1000, 0x100, kRemoteWrite);
  BOOST_TEST(!keys.Allows(key, 0x1080, ~0ull - 0x7f, kRemoteWrite));
  BOOST_TEST(!keys.Allows(key, 0x1000, ~0ull, kRemoteWrite));
}

BOOST_AUTO_TEST_CASE(ARemoteWriteNeedsTheRightOfItsKey) {
  BOOST_TEST((WriteTo(kTarget, 0, 8, kRemoteRead | kRemoteAtomic | kLocalWrite) == kRefused));
}

BOOST_AUTO_TEST_CASE(AnUnknownKeyAnOldVariantAndADeregisteredKeyAreRefused) {
  BOOST_TEST((WriteTo(kTarget, 0x12345600, 8, kRemoteWrite) == kRefused));
  KeyTable keys;
  const uint32_t key = keys.Register(0x1000, 0x100, kRemoteWrite);
  BOOST_TEST(keys.Allows(key, 0x1000, 8, kRemoteWrite));
  BOOST_TEST(!keys.Allows(key ^ 1, 0x1000, 8, kRemoteWrite));
  keys.Deregister(key);
  BOOST_TEST(!keys.Allows(key, 0x1000, 8, kRemoteWrite));
  BOOST_TEST(!keys.Allows(0, 0, 0, 0));
}

BOOST_FIXTURE_TEST_CASE(AReadNeedsTheRightToReadRemotelyAndToWriteLocally, NicFixture) {
  std::memcpy(dma.At(kTarget), "remote bytes", 12);
  StorePointer(0, abi::Opcode::kRdmaRead, 12);
  RingProducer(1);
  RunAll();
  BOOST_TEST(std::memcmp(dma.At(kSource), "remote bytes", 12) == 0);
  BOOST_TEST(abi::Swap32(dma.cqes.at(0).byte_cnt) == 12u);
  rkey = remote.Keys().Register(kTarget, 64, kRemoteWrite);
  StorePointer(1, abi::Opcode::kRdmaRead, 12);
  RingProducer(2);
  RunAll();
  BOOST_TEST((SyndromeOf(dma.cqes.at(1)) == abi::Syndrome::kRemoteAccess));
}

BOOST_FIXTURE_TEST_CASE(AReadIntoMemoryWithoutLocalWriteIsALocalProtectionError, NicFixture) {
  lkey = local.Keys().Register(kSource, 64, 0);
  StorePointer(0, abi::Opcode::kRdmaRead, 8);
  RingProducer(1);
  RunAll();
  BOOST_TEST((SyndromeOf(dma.cqes.at(0)) == abi::Syndrome::kLocalProtection));
  BOOST_TEST(dma.writes == 0u);
}

BOOST_FIXTURE_TEST_CASE(AnUnknownLkeyIsALocalProtectionErrorThatTheTargetNeverSees, NicFixture) {
  lkey ^= 1;
  StorePointer(0, abi::Opcode::kRdmaWrite, 8);
  RingProducer(1);
  RunAll();
  BOOST_TEST((SyndromeOf(dma.cqes.at(0)) == abi::Syndrome::kLocalProtection));
  BOOST_TEST(ByteOf(dma.cqes.at(0), abi::kErrorVendorSyndromeOffset) == 0x51);
  BOOST_TEST((peer->state == QpState::kReady));
  BOOST_TEST(remote.Count().packets_received == 0u);
}

BOOST_FIXTURE_TEST_CASE(ASuccessfulCqeNamesQpOpcodeAndFirstBlock, NicFixture) {
  StorePointer(0, abi::Opcode::kRdmaWrite, 8);
  StoreInline(1, std::string(100, 'x'));
  RingProducer(4);
  RunAll();
  const abi::Cqe& cqe = dma.cqes.at(1);
  BOOST_TEST((OpcodeOf(cqe) == abi::CqeOpcode::kRequester));
  BOOST_TEST(CounterOf(cqe) == 1u);
  BOOST_TEST(abi::Swap32(cqe.sop_drop_qpn) == ((0x08u << 24) | qp->qpn));
  BOOST_TEST(abi::Swap32(cqe.srqn_uidx) == qp->qpn);
}

BOOST_FIXTURE_TEST_CASE(AnErrorCqeHasTheBytesOfTheContract, NicFixture) {
  StorePointer(0, abi::Opcode::kRdmaWrite, 8);
  rkey ^= 1;
  StorePointer(1, abi::Opcode::kRdmaRead, 8);
  RingProducer(2);
  RunAll();
  const abi::Cqe& cqe = dma.cqes.at(1);
  BOOST_TEST((cqe.op_own >> 4) == 0xd);
  BOOST_TEST(ByteOf(cqe, 55) == 0x13);
  BOOST_TEST(ByteOf(cqe, 54) == 0x88);
  BOOST_TEST(ByteOf(cqe, 56) == 0x10);
  BOOST_TEST(CounterOf(cqe) == 1u);
  BOOST_TEST(local.Count().error_cqes == 1u);
}

BOOST_FIXTURE_TEST_CASE(AnUnsignalledWqeGivesNoCqeUnlessItFails, NicFixture) {
  StorePointer(0, abi::Opcode::kRdmaWrite, 8, abi::kCqeOnError);
  StorePointer(1, abi::Opcode::kRdmaWrite, 8, abi::kCqeOnError);
  StorePointer(2, abi::Opcode::kRdmaWrite, 8);
  RingProducer(3);
  RunAll();
  BOOST_TEST(dma.cqes.size() == 1u);
  BOOST_TEST(CounterOf(dma.cqes.at(0)) == 2u);
  lkey ^= 1;
  StorePointer(3, abi::Opcode::kRdmaWrite, 8, abi::kCqeOnError);
  RingProducer(4);
  RunAll();
  BOOST_TEST(dma.cqes.size() == 2u);
  BOOST_TEST((SyndromeOf(dma.cqes.at(1)) == abi::Syndrome::kLocalProtection));
}

BOOST_FIXTURE_TEST_CASE(AfterAnErrorEveryLaterWqeIsFlushedSignalledOrNot, NicFixture) {
  StorePointer(0, abi::Opcode::kRdmaWrite, 8);
  StorePointer(1, abi::Opcode::kRdmaWrite, 8);
  StorePointer(2, abi::Opcode::kRdmaWrite, 8, abi::kCqeOnError);
  StorePointer(3, abi::Opcode::kRdmaRead, 8);
  StoreInline(4, std::string(60, 'x'), abi::kCqeOnError);  // two blocks
  StorePointer(6, abi::Opcode::kRdmaWrite, 8);
  SetRecord(7);
  RingProducer(7);
  Work works[7];
  // The first three are on their way when the second fails; the others are not yet fetched.
  for (int i = 0; i < 3; ++i) BOOST_REQUIRE(local.FetchNext(*qp, works[i]));
  local.Acknowledge(*qp, works[0]);
  works[1].syndrome = abi::Syndrome::kRemoteAccess;
  works[1].status = WorkStatus::kRemoteError;
  local.Fail(*qp, works[1]);
  constexpr uint16_t kIndices[] = {0, 1, 2, 3, 4, 6};
  BOOST_REQUIRE_EQUAL(dma.cqes.size(), 6u);
  for (size_t i = 0; i < 6; ++i) BOOST_TEST(CounterOf(dma.cqes[i]) == kIndices[i]);
  BOOST_TEST((SyndromeOf(dma.cqes[1]) == abi::Syndrome::kRemoteAccess));
  for (size_t i = 2; i < 6; ++i) {
    BOOST_TEST((SyndromeOf(dma.cqes[i]) == abi::Syndrome::kFlushed));
    BOOST_TEST(ByteOf(dma.cqes[i], abi::kErrorVendorSyndromeOffset) == 0xf9);
  }
  BOOST_TEST(ByteOf(dma.cqes[3], 56) == 0x10);
  BOOST_TEST(dma.writes == 0u);
  // What was in flight is not completed a second time.
  local.Acknowledge(*qp, works[2]);
  local.Fail(*qp, works[2]);
  BOOST_TEST(dma.cqes.size() == 6u);
}

BOOST_FIXTURE_TEST_CASE(AStaleRecordHidesWhatWasAnnouncedButNotYetFetched, NicFixture) {
  for (uint64_t i = 0; i < 4; ++i) StorePointer(i, abi::Opcode::kRdmaWrite, 8);
  SetRecord(0);
  RingProducer(4);
  Work work;
  BOOST_REQUIRE(local.FetchNext(*qp, work));
  work.syndrome = abi::Syndrome::kLocalQpOperation;
  local.Fail(*qp, work);
  BOOST_TEST(dma.cqes.size() == 1u);
  const ByteDma::Use& last = dma.uses.back();
  BOOST_TEST((last.purpose == Purpose::kRecord && last.address == kRecord + 4 && last.size == 4));
  BOOST_TEST(dma.record_reads == std::vector<uint64_t>{kRecord + 4});
}

BOOST_FIXTURE_TEST_CASE(InErrorADoorbellFlushesWhatTheRecordAnnounces, NicFixture) {
  lkey ^= 1;
  StorePointer(0, abi::Opcode::kRdmaWrite, 8);
  SetRecord(1);
  RingProducer(1);
  RunAll();
  BOOST_TEST(dma.cqes.size() == 1u);
  StorePointer(1, abi::Opcode::kRdmaWrite, 8, abi::kCqeOnError);
  StorePointer(2, abi::Opcode::kRdmaWrite, 8);
  BOOST_TEST(RingProducer(3) == nullptr);
  BOOST_TEST(dma.cqes.size() == 1u);
  SetRecord(3);
  BOOST_TEST(RingProducer(3) == nullptr);
  BOOST_REQUIRE_EQUAL(dma.cqes.size(), 3u);
  BOOST_TEST((SyndromeOf(dma.cqes[1]) == abi::Syndrome::kFlushed));
  BOOST_TEST(CounterOf(dma.cqes[2]) == 2u);
}

BOOST_FIXTURE_TEST_CASE(AQpInErrorDropsWhatItsPeerSends, NicFixture) {
  peer->state = QpState::kError;
  StorePointer(0, abi::Opcode::kRdmaWrite, 8);
  RingProducer(1);
  Work work;
  BOOST_TEST(RunOne(work));
  BOOST_TEST((work.status == WorkStatus::kDropped));
  BOOST_TEST(dma.cqes.empty());
  BOOST_TEST(dma.writes == 0u);
}

BOOST_AUTO_TEST_CASE(TheOwnerBitOfARingCqTogglesWithEveryLap) {
  NicFixture nic(16, 4, false);
  for (uint64_t i = 0; i < 23; ++i) {
    nic.StorePointer(i, abi::Opcode::kRdmaWrite, 8);
    nic.RingProducer(i + 1);
    BOOST_REQUIRE_EQUAL(nic.RunAll(), 1u);
    BOOST_TEST(nic.dma.cqe_addresses.back() == NicFixture::kCq + i % 4 * 64);
    BOOST_TEST((nic.dma.cqes.back().op_own & 1) == (i / 4) % 2);
  }
}

BOOST_AUTO_TEST_CASE(ACollapsedCqAlwaysRewritesSlotZero) {
  NicFixture nic(16, 1, true);
  for (uint64_t i = 0; i < 9; ++i) {
    nic.StorePointer(i, abi::Opcode::kRdmaWrite, 8);
    nic.RingProducer(i + 1);
    nic.RunAll();
    BOOST_TEST(nic.dma.cqe_addresses.back() == NicFixture::kCq);
    BOOST_TEST(CounterOf(nic.dma.cqes.back()) == i);
  }
}

BOOST_FIXTURE_TEST_CASE(AnInjectedErrorHitsTheWqeOfThatNumber, NicFixture) {
  local.InjectError(qp->qpn, {2, abi::Syndrome::kLocalQpOperation});
  for (uint64_t i = 0; i < 4; ++i) StorePointer(i, abi::Opcode::kRdmaWrite, 8);
  SetRecord(4);
  RingProducer(4);
  RunAll();
  BOOST_REQUIRE_EQUAL(dma.cqes.size(), 4u);
  BOOST_TEST((OpcodeOf(dma.cqes[1]) == abi::CqeOpcode::kRequester));
  BOOST_TEST((SyndromeOf(dma.cqes[2]) == abi::Syndrome::kLocalQpOperation));
  BOOST_TEST((SyndromeOf(dma.cqes[3]) == abi::Syndrome::kFlushed));
}

}  // namespace ringpost::sim
