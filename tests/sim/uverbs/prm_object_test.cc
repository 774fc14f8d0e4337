// Each object through its mailboxes: bytes in, bytes out.
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

#include "sim/uverbs/prm/layout/hca_cap.h"
#include "sim/uverbs/prm/qp_attributes.h"
#include "tests/seed.h"
#include "tests/sim/uverbs/prm_bench.h"

namespace ringpost::sim::uverbs::prm {
namespace {

BOOST_AUTO_TEST_SUITE(PrmFields)

// Where the manual's notation points, byte by byte.
BOOST_AUTO_TEST_CASE(AFieldIsTheBitsOfItsBigEndianDword) {
  uint8_t bytes[12] = {};
  Set(bytes, Field{0x04, 28, 24}, 0x15);
  BOOST_TEST(int{bytes[4]} == 0x15);
  Set(bytes, Field{0x04, 23, 0}, 0xabcdef);
  const uint8_t expected[12] = {0, 0, 0, 0, 0x15, 0xab, 0xcd, 0xef, 0, 0, 0, 0};
  BOOST_TEST(std::memcmp(bytes, expected, 12) == 0);
  BOOST_TEST(Get(bytes, Field{0x04, 28, 24}) == 0x15u);
  BOOST_TEST(Get(bytes, Field{0x04, 31, 31}) == 0u);
  Set(bytes, Field{0x04, 28, 24}, 0xff);  // what does not fit is dropped, neighbours stay
  BOOST_TEST(int{bytes[4]} == 0x1f);
  Set(bytes, Wide{0x04}, 0x0102030405060708);
  BOOST_TEST(int{bytes[4]} == 1);
  BOOST_TEST(int{bytes[11]} == 8);
  BOOST_TEST(Get(bytes, Wide{0x04}) == 0x0102030405060708u);
}

// (what, where its bits must be): offsets that a program has written down on its own.
BOOST_AUTO_TEST_CASE(LayoutsAreTheManuals) {
  const struct {
    Field field;
    uint32_t byte;
    uint8_t mask;
  } kExpected[] = {
      {In(cqc::kAt, cqc::kCollapsed), 0x11, 0x10},
      {In(cqc::kAt, cqc::kOverrunIgnore), 0x11, 0x02},
      {In(cqc::kAt, cqc::kDbrUmemValid), 0x10, 0x02},
      {In(cqc::kAt, cqc::kLogSize), 0x1c, 0x1f},
      {In(cqc::kAt, cqc::kEqn), 0x27, 0xff},
      {cqc::kUmemValid, 0x5c, 0x80},
      {In(qpc::kAt, qpc::kState), 0x18, 0xf0},
      {In(qpc::kAt, qpc::kServiceType), 0x19, 0xff},
      {In(qpc::kAt, qpc::kNoSq), 0x22, 0x80},
      {In(qpc::kAt, qpc::kLogSqSize), 0x22, 0x78},
      {In(qpc::kAt, qpc::kLogRqStride), 0x21, 0x07},
      {In(qpc::kAt, qpc::kSendDbrMode), 0x28, 0xc0},
      {In(qpc::kAt, qpc::kRqType), 0xc4, 0x07},
      {In(qpc::kAt, qpc::kDbrUmemValid), 0xe8, 0x10},
      {In(qpc::kAt, In(qpc::kPrimaryPath, ads::kAckTimeout)), 0x38, 0xf8},
      {In(qpc::kAt, In(qpc::kPrimaryPath, ads::kPort)), 0x55, 0xff},
      {qpc::kUmemValid, 0x10c, 0x80},
      {In(dctc::kAt, dctc::kMtu), 0x38, 0x07},
      {In(dctc::kAt, dctc::kMinRnrNak), 0x22, 0x1f},
      {In(rmpc::kAt, rmpc::kState), 0x21, 0xf0},
      {In(rmpc::kAt, rmpc::kUmemValid), 0x74, 0x40},
      {In(mkc::kAt, mkc::kAccessMode), 0x12, 0x03},
      {mkc::kUmemValid, 0x0c, 0x40},
      {In(kCapAt, cap::kLogBlueFlameSize), 0x5d, 0x1f},
      {In(kCapAt, cap::kCqeVersion), 0x4f, 0x0f},
  };
  for (const auto& [field, byte, mask] : kExpected) {
    std::vector<uint8_t> bytes(0x120);
    Set(bytes.data(), field, 0xffffffff);
    BOOST_TEST(int{bytes[byte]} == int{mask});
    bytes[byte] = 0;
    const bool alone = field.Bits() > 8 || bytes == std::vector<uint8_t>(0x120);
    BOOST_TEST(alone);
  }
}

BOOST_AUTO_TEST_CASE(EveryRefusalHasASyndromeOfItsOwn) {
  std::set<uint32_t> syndromes;
  for (uint32_t i = 0; i < Refusals(); ++i) {
    const RefusalFacts& facts = FactsOf(static_cast<Refusal>(i));
    BOOST_TEST(syndromes.insert(facts.syndrome).second, facts.name);
    BOOST_TEST((facts.status == Status::kOk) == (i == 0));
    BOOST_TEST((ErrnoOf(facts.status) == 0) == (i == 0));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(PrmObjects)

BOOST_AUTO_TEST_CASE(CapabilitiesAreTheNicsLimits) {
  BenchOptions options;
  options.nic.limits.sq_depth_wqebbs = 512;
  options.nic.limits.cq_entries = 4096;
  options.nic.limits.qps = 1000;
  options.nic.limits.rd_atomic = 8;
  options.nic.limits.message_bytes = 1 << 20;
  options.nic.limits.receive_wqe_bytes = 256;
  options.nic.limits.srq_depth_wqes = 2048;
  for (const uint32_t current : {0u, 1u}) {
    PrmBench bench(options);
    const Answer answer = bench.Run(Mailbox(Opcode::kQueryHcaCap).Put(kOpMod, current));
    BOOST_TEST_REQUIRE(answer.Ok());
    const auto of = [&](Field field) { return answer[In(kCapAt, field)]; };
    BOOST_TEST(of(cap::kLogMaxQpSize) == 9u);
    BOOST_TEST(of(cap::kLogMaxCqSize) == 12u);
    BOOST_TEST(of(cap::kLogMaxQp) == 9u);  // 512 surely fit
    BOOST_TEST(of(cap::kLogMaxRaRequester) == 3u);
    BOOST_TEST(of(cap::kLogMaxRaResponderDc) == 3u);
    BOOST_TEST(of(cap::kLogMaxMessage) == 20u);
    BOOST_TEST(of(cap::kMaxReceiveWqe) == 256u);
    BOOST_TEST(of(cap::kLogMaxSrqSize) == 11u);
    BOOST_TEST(of(cap::kVhca) == 1u);
    BOOST_TEST(of(cap::kGidTableSize) == 0u);
    BOOST_TEST(of(cap::kPortType) == 0u);
    BOOST_TEST(of(cap::kRoce) == 0u);
    BOOST_TEST(of(cap::kCqeVersion) == 1u);
    BOOST_TEST(of(cap::kLogBlueFlameSize) == 9u);
  }
}

BOOST_AUTO_TEST_CASE(CapabilitiesOfEachGroup) {
  PrmBench bench({.link = wire::Link::kEthernet});
  const auto query = [&](CapGroup group) {
    return bench.Run(
        Mailbox(Opcode::kQueryHcaCap)
            .Put(kOpMod, static_cast<uint32_t>(group) << kCapGroupShift | kCapCurrent));
  };
  const Answer general = query(CapGroup::kGeneral);
  BOOST_TEST(general[In(kCapAt, cap::kRoce)] == 1u);
  BOOST_TEST(general[In(kCapAt, cap::kPortType)] == 1u);
  const Answer atomic = query(CapGroup::kAtomic);
  BOOST_TEST(atomic[In(kCapAt, atomic_cap::kOperations)] == 0xfu);
  BOOST_TEST(atomic[In(kCapAt, atomic_cap::kSizes)] == 0xcu);
  BOOST_TEST(atomic[In(kCapAt, atomic_cap::kSizesDc)] == 0xcu);
  const Answer roce = query(CapGroup::kRoce);
  BOOST_TEST(roce[In(kCapAt, roce_cap::kUdpPort)] == 4791u);
  BOOST_TEST(roce[In(kCapAt, roce_cap::kAddresses)] == 1u);
  BOOST_TEST(query(CapGroup::kGeneral2)[In(kCapAt, cap2::kRecordFree)] == 0u);
  const Answer odp = query(CapGroup::kOdp);
  BOOST_TEST(odp[In(kCapAt, odp_cap::kRc)] == 0x3fu);
  BOOST_TEST(odp[In(kCapAt, odp_cap::kUd)] == 0x21u);
  BOOST_TEST(odp[In(kCapAt, odp_cap::kDc)] == 0x2fu);
  for (const CapGroup absent : {CapGroup::kNicFlowTable, CapGroup::kDeviceMemory}) {
    const Answer none = query(absent);
    BOOST_TEST((none.Ok() && std::vector<uint8_t>(none.bytes.begin() + 8, none.bytes.end()) ==
                                 std::vector<uint8_t>(none.bytes.size() - 8)));
  }
}

BOOST_AUTO_TEST_CASE(RoceAddressesAreThePorts) {
  PrmBench bench({.link = wire::Link::kEthernet});
  const Answer answer = bench.Run(Mailbox(Opcode::kQueryRoceAddress));
  const wire::Gid gid = wire::MappedGid(10, 0, 0, 7);
  BOOST_TEST_REQUIRE(answer.Ok());
  BOOST_TEST(std::memcmp(answer.bytes.data() + 0x10, gid.data(), gid.size()) == 0);
  const uint8_t mac[] = {2, 0, 0, 0, 0, 7};
  BOOST_TEST(std::memcmp(answer.bytes.data() + 0x22, mac, sizeof(mac)) == 0);
  BOOST_TEST(answer[In(0x10, roce_address::kVersion)] == 2u);
}

BOOST_AUTO_TEST_CASE(AdapterAndInterfaceVersionAreKnown) {
  PrmBench bench;
  BOOST_TEST(bench.Run(Mailbox(Opcode::kQueryAdapter))[adapter::kIeeeVendor] == 0x2c9u);
  const Answer answer = bench.Run(Mailbox(Opcode::kQueryIssi));
  BOOST_TEST(answer[issi::kCurrent] == 1u);
  BOOST_TEST(answer[issi::kSupported] == 2u);
  BOOST_TEST(bench.Run(Mailbox(Opcode::kNop)).Ok());
}

BOOST_AUTO_TEST_CASE(ACqIsReadBackAsItWasMade) {
  PrmBench bench;
  const Mailbox mailbox = bench.CqMailbox(0x2000, 0x108)
                              .Put(In(cqc::kAt, cqc::kCollapsed), 1)
                              .Put(In(cqc::kAt, cqc::kOverrunIgnore), 1);
  const Answer made = bench.Run(mailbox);
  BOOST_TEST_REQUIRE(made.Ok());
  const Answer read = bench.Run(Opcode::kQueryCq, made.Number());
  for (const Field field :
       {cqc::kCollapsed, cqc::kOverrunIgnore, cqc::kLogSize, cqc::kUar, cqc::kEqn, cqc::kDbrUmem}) {
    BOOST_TEST(read[In(0x10, field)] == Get(mailbox.Bytes().data(), In(cqc::kAt, field)));
  }
  BOOST_TEST(read[In(0x10, cqc::kDbr)] == 0x108u);
  BOOST_TEST(read[In(0x10, cqc::kCqStatus)] == 0u);
  BOOST_TEST(read[In(0x10, cqc::kProducer)] == 0u);
  const CqConfig& config = bench.loop.Function().FindCq(made.Number())->config;
  BOOST_TEST(config.ring == bench.At(0x2000));
  BOOST_TEST(config.record == bench.At(0x108));
  BOOST_TEST(config.entries == 32u);
  BOOST_TEST(config.collapsed);
}

BOOST_AUTO_TEST_CASE(ModerationAndOverrunOfACqCanBeModified) {
  PrmBench bench;
  const Answer done =
      bench.Run(Mailbox(Opcode::kModifyCq)
                    .Put(kNumber, bench.cq)
                    .Put(cqc::kSelect, cqc::kSelectPeriod | cqc::kSelectCount | cqc::kSelectOverrun)
                    .Put(In(cqc::kAt, cqc::kPeriod), 16)
                    .Put(In(cqc::kAt, cqc::kMaxCount), 9)
                    .Put(In(cqc::kAt, cqc::kOverrunIgnore), 1));
  BOOST_TEST_REQUIRE(done.Ok());
  const Answer read = bench.Run(Opcode::kQueryCq, bench.cq);
  BOOST_TEST(read[In(0x10, cqc::kPeriod)] == 16u);
  BOOST_TEST(read[In(0x10, cqc::kMaxCount)] == 9u);
  BOOST_TEST(read[In(0x10, cqc::kOverrunIgnore)] == 1u);
  BOOST_TEST(bench.loop.Function().FindCq(bench.cq)->config.overrun_ignore);
}

BOOST_AUTO_TEST_CASE(AQpIsReadBackInEachState) {
  PrmBench bench;
  const Answer made = bench.Run(bench.QpMailbox());
  BOOST_TEST_REQUIRE(made.Ok());
  const uint32_t qpn = made.Number();
  const auto read = [&](Field field) {
    return bench.Run(Opcode::kQueryQp, qpn)[In(qpc::kAt, field)];
  };
  BOOST_TEST(read(qpc::kState) == 0u);
  BOOST_TEST(read(qpc::kUserIndex) == 0x123456u);
  BOOST_TEST(read(qpc::kLogSqSize) == 4u);
  BOOST_TEST(bench.Run(bench.StepMailbox(Opcode::kRst2Init, qpn, 0)).Ok());
  BOOST_TEST(read(qpc::kState) == 1u);
  BOOST_TEST(read(qpc::kRemoteAtomic) == 1u);
  BOOST_TEST(read(qpc::kAtomicMode) == 3u);
  BOOST_TEST(bench
                 .Run(bench.StepMailbox(Opcode::kInit2Rtr, qpn, 0x10777)
                          .Put(In(qpc::kAt, qpc::kNextReceivePsn), 0x112233))
                 .Ok());
  BOOST_TEST(read(qpc::kState) == 2u);
  BOOST_TEST(read(qpc::kMtu) == 5u);
  BOOST_TEST(read(qpc::kRemoteQpn) == 0x10777u);
  BOOST_TEST(read(qpc::kNextReceivePsn) == 0x112233u);
  BOOST_TEST(read(qpc::kLogRraMax) == 4u);
  BOOST_TEST(read(qpc::kMinRnrNak) == 12u);
  BOOST_TEST(read(qpc::kLogMessageMax) == 30u);
  BOOST_TEST(read(In(qpc::kPrimaryPath, ads::kLid)) == uint32_t{PrmBench::kLid});
  BOOST_TEST(bench
                 .Run(bench.StepMailbox(Opcode::kRtr2Rts, qpn, 0)
                          .Put(In(qpc::kAt, qpc::kNextSendPsn), 0xabcdef))
                 .Ok());
  BOOST_TEST(read(qpc::kState) == 3u);
  BOOST_TEST(read(qpc::kNextSendPsn) == 0xabcdefu);
  BOOST_TEST(read(qpc::kRetryCount) == 7u);
  BOOST_TEST(read(qpc::kCurrentRetryCount) == 7u);
  BOOST_TEST(read(qpc::kPathMigration) == 3u);
  BOOST_TEST(read(In(qpc::kPrimaryPath, ads::kAckTimeout)) == 14u);
  BOOST_TEST(bench.Run(Opcode::k2Err, qpn).Ok());
  BOOST_TEST(read(qpc::kState) == 6u);
  BOOST_TEST(bench.Run(Opcode::k2Rst, qpn).Ok());
  BOOST_TEST(read(qpc::kState) == 0u);
  BOOST_TEST(read(qpc::kAtomicMode) == 0u);
  BOOST_TEST(read(qpc::kRemoteQpn) == 0u);
  BOOST_TEST(read(qpc::kUserIndex) == 0x123456u);
}

BOOST_AUTO_TEST_CASE(RightsAreOptionsOfTheirOwn) {
  PrmBench bench;
  const uint32_t qpn = bench.Run(bench.QpMailbox()).Number();
  bench.BringUp(qpn, 0x10777);
  const auto rights = [&](uint32_t options) {
    Mailbox none(Opcode::kRts2Rts);
    BOOST_TEST(bench.Run(none.Put(kNumber, qpn).Put(qpc::kOptional, options)).Ok());
    const Answer now = bench.Run(Opcode::kQueryQp, qpn);
    return now[In(qpc::kAt, qpc::kRemoteRead)] * 4 + now[In(qpc::kAt, qpc::kRemoteWrite)] * 2 +
           now[In(qpc::kAt, qpc::kRemoteAtomic)];
  };
  BOOST_TEST(rights(0) == 7u);
  BOOST_TEST(rights(qpc::kOptRemoteWrite) == 5u);
  BOOST_TEST(rights(qpc::kOptRemoteRead | qpc::kOptRemoteAtomic) == 0u);
}

// What is read of a context is what is written back, on either link.
BOOST_AUTO_TEST_CASE(AttributesAndContextAreOneTableReadBothWays) {
  std::mt19937_64 random(TestSeed());
  for (const wire::Link link : {wire::Link::kInfiniband, wire::Link::kEthernet}) {
    for (int round = 0; round < 200; ++round) {
      uint8_t context[qpc::kBytes] = {};
      for (uint8_t& byte : context) byte = static_cast<uint8_t>(random());
      Set(context, qpc::kMtu, static_cast<uint32_t>(1 + random() % 5));
      QpAttributes first, second;
      ReadAttributes(context, link, &first);
      first.state = sim::State::kReadyToReceive;
      uint8_t written[qpc::kBytes] = {};
      WriteAttributes(first, link, written);
      ReadAttributes(written, link, &second);
      BOOST_TEST(Get(written, qpc::kState) == 2u);
      for (const Field field :
           {qpc::kMtu, qpc::kRemoteQpn, qpc::kLogSraMax, qpc::kLogRraMax, qpc::kRetryCount,
            qpc::kRnrRetry, qpc::kNextSendPsn, qpc::kNextReceivePsn, qpc::kMinRnrNak, qpc::kQkey,
            qpc::kRemoteRead, qpc::kRemoteWrite, qpc::kRemoteAtomic}) {
        BOOST_TEST(Get(written, field) == Get(context, field));
      }
      BOOST_TEST((first.address == second.address));
      BOOST_TEST((first.alternate_address == second.alternate_address));
      BOOST_TEST(first.access == second.access);
      BOOST_TEST(first.path_migration == second.path_migration);
    }
  }
}

BOOST_AUTO_TEST_CASE(AnRmpIsReadBackAndItsLimitArmed) {
  PrmBench bench;
  const auto read = [&](Field field) {
    return bench.Run(Opcode::kQueryRmp, bench.rmp)[In(rmpc::kAt, field)];
  };
  bench.Bytes(0x300)[3] = 4;  // receives are posted, more than the limit
  BOOST_TEST(read(rmpc::kState) == rmpc::kReady);
  BOOST_TEST(read(rmpc::kLogSize) == 4u);
  BOOST_TEST(read(rmpc::kLimit) == 0u);
  Mailbox arm(Opcode::kModifyRmp);
  arm.Put(kNumber, bench.rmp).Put(rmpc::kModifyState, rmpc::kReady);
  arm.Put(In(rmpc::kAt, rmpc::kState), rmpc::kReady).Put(In(rmpc::kAt, rmpc::kLimit), 3);
  BOOST_TEST(bench.Run(arm).Ok());
  BOOST_TEST(read(rmpc::kLimit) == 0u);  // it was not selected
  BOOST_TEST(bench.Run(arm.Put(rmpc::kSelectLimit, 1)).Ok());
  BOOST_TEST(read(rmpc::kLimit) == 3u);
  BOOST_TEST(read(rmpc::kSwCounter) == 4u);
  BOOST_TEST(read(rmpc::kHwCounter) == 0u);
}

BOOST_AUTO_TEST_CASE(ADctIsActiveUntilItIsDrained) {
  PrmBench bench;
  const Answer made = bench.Run(bench.DctMailbox());
  BOOST_TEST_REQUIRE(made.Ok());
  const Answer read = bench.Run(Opcode::kQueryDct, made.Number());
  BOOST_TEST(read[In(0x10, dctc::kState)] == dctc::kActive);
  BOOST_TEST(read[In(0x10, dctc::kUserIndex)] == 0x654321u);
  BOOST_TEST((bench.loop.Function().FindQp(made.Number())->state == sim::State::kReadyToReceive));
  BOOST_TEST((bench.Run(Opcode::kDestroyDct, made.Number()).refusal == Refusal::kDctActive));
  BOOST_TEST(bench.Run(Opcode::kDrainDct, made.Number()).Ok());
  BOOST_TEST(bench.Run(Opcode::kQueryDct, made.Number())[In(0x10, dctc::kState)] == dctc::kDrained);
  BOOST_TEST((bench.Run(Opcode::kDrainDct, made.Number()).refusal == Refusal::kDctDrained));
  BOOST_TEST(bench.Run(Opcode::kDestroyDct, made.Number()).Ok());
  BOOST_TEST((bench.Run(Opcode::kQueryDct, made.Number()).refusal == Refusal::kNoDct));
}

BOOST_AUTO_TEST_CASE(AKeyHasTheVariantThatSoftwareGave) {
  PrmBench bench;
  const Answer made = bench.Run(bench.MkeyMailbox());
  BOOST_TEST_REQUIRE(made.Ok());
  const uint32_t key = made.Number() << 8 | 0x5a;
  uint64_t address = 0;
  Protection& keys = bench.loop.Function().Keys();
  BOOST_TEST(keys.Translate(key, bench.pd, bench.At(0x8010), 16, kMayWriteRemotely, &address));
  BOOST_TEST(address == bench.At(0x8010));
  BOOST_TEST(!keys.Translate(key, bench.pd, bench.At(0xbff8), 16, 0, &address));
  BOOST_TEST(bench.Run(Opcode::kQueryMkey, made.Number())[In(0x10, mkc::kVariant)] == 0x5au);
  BOOST_TEST(bench.Run(Opcode::kDestroyMkey, made.Number()).Ok());
  BOOST_TEST(!keys.Translate(key, bench.pd, bench.At(0x8010), 16, 0, &address));
}

BOOST_AUTO_TEST_CASE(AKeyWithoutRemoteWriteRefusesWrites) {
  PrmBench bench;
  const Answer made = bench.Run(bench.MkeyMailbox().Put(In(mkc::kAt, mkc::kRemoteWrite), 0));
  uint64_t address = 0;
  const uint32_t key = made.Number() << 8 | 0x5a;
  Protection& keys = bench.loop.Function().Keys();
  BOOST_TEST(keys.Translate(key, bench.pd, bench.At(0x8000), 8, kMayReadRemotely, &address));
  BOOST_TEST(!keys.Translate(key, bench.pd, bench.At(0x8000), 8, kMayWriteRemotely, &address));
}

BOOST_AUTO_TEST_CASE(TheKernelMayGiveARecordsAddressAndAKeyOfAllMemory) {
  PrmBench bench;
  const Mailbox cq = bench.CqMailbox(0x2000)
                         .Put(In(cqc::kAt, cqc::kDbrUmemValid), 0)
                         .Put(In(cqc::kAt, cqc::kDbr), bench.At(0x140));
  BOOST_TEST((bench.Run(cq).refusal == Refusal::kNeedsUmem));
  const Answer made = bench.RunAs(cq, 0);
  BOOST_TEST_REQUIRE(made.Ok());
  BOOST_TEST(bench.loop.Function().FindCq(made.Number())->config.record == bench.At(0x140));
  const Mailbox key = bench.MkeyMailbox()
                          .Put(In(mkc::kAt, mkc::kAccessMode), mkc::kPhysical)
                          .Put(In(mkc::kAt, mkc::kLength64), 1);
  BOOST_TEST((bench.Run(key).refusal == Refusal::kAccessMode));
  BOOST_TEST(bench.RunAs(key, 0).Ok());
}

BOOST_AUTO_TEST_CASE(ClosingAUserDestroysWhatIsHis) {
  PrmBench bench;
  BOOST_TEST(bench.Run(bench.QpMailbox()).Ok());
  BOOST_TEST(bench.Run(bench.DctMailbox()).Ok());
  BOOST_TEST(bench.Run(bench.MkeyMailbox()).Ok());
  const uint16_t other = bench.firmware.Open();
  const Answer others = bench.RunAs(Mailbox(Opcode::kAllocPd), other);
  BOOST_TEST((bench.firmware.Count(bench.uid) == ObjectCounts{1, 1, 1, 1, 1, 1, 1, 1}));
  bench.firmware.Close(bench.uid);
  BOOST_TEST(bench.firmware.Count(bench.uid).Total() == 0u);
  BOOST_TEST(bench.firmware.Count().Total() == 1u);
  BOOST_TEST(bench.loop.Function().FindCq(bench.cq) == nullptr);
  BOOST_TEST(bench.loop.Function().FindSrq(bench.rmp) == nullptr);
  BOOST_TEST(!bench.loop.Function().Keys().HasPd(bench.pd));
  BOOST_TEST(!bench.loop.Memory().Allows(bench.At(0), 1));
  BOOST_TEST(!bench.page_used[0]);
  BOOST_TEST(bench.RunAs(Mailbox(Opcode::kDeallocPd).Put(kNumber, others.Number()), other).Ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::uverbs::prm
