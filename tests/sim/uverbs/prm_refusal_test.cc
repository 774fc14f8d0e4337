// What the firmware refuses, with which status and syndrome; and the states of a QP.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <set>

#include "tests/sim/uverbs/prm_bench.h"

namespace ringpost::sim::uverbs::prm {
namespace {

using Change = std::function<void(PrmBench&, Mailbox&)>;

struct Case {
  const char* what;
  Mailbox (*base)(PrmBench&);
  Change change;
  Refusal refusal;
};

Mailbox Cq(PrmBench& bench) { return bench.CqMailbox(0x2000, 0x140); }
Mailbox Qp(PrmBench& bench) { return bench.QpMailbox(); }
Mailbox Rmp(PrmBench& bench) { return bench.RmpMailbox(); }
Mailbox Dct(PrmBench& bench) { return bench.DctMailbox(); }
Mailbox Mkey(PrmBench& bench) { return bench.MkeyMailbox(); }
Mailbox ModifyTheCq(PrmBench& bench) { return Mailbox(Opcode::kModifyCq).Put(kNumber, bench.cq); }
Mailbox ModifyTheRmp(PrmBench& bench) {
  return Mailbox(Opcode::kModifyRmp)
      .Put(kNumber, bench.rmp)
      .Put(rmpc::kModifyState, rmpc::kReady)
      .Put(In(rmpc::kAt, rmpc::kState), rmpc::kReady);
}
// The second step of a QP that has made the first.
Mailbox ToRtr(PrmBench& bench) {
  const uint32_t qpn = bench.Run(bench.QpMailbox()).Number();
  BOOST_TEST(bench.Run(bench.StepMailbox(Opcode::kRst2Init, qpn, 0)).Ok());
  return bench.StepMailbox(Opcode::kInit2Rtr, qpn, 0x10777);
}

template <class F>
Change With(F field, uint64_t value) {
  return [=](PrmBench&, Mailbox& mailbox) {
    mailbox.Put(
        field, static_cast<std::conditional_t<std::is_same_v<F, Wide>, uint64_t, uint32_t>>(value));
  };
}
constexpr Field InCq(Field field) { return In(cqc::kAt, field); }
constexpr Field InQp(Field field) { return In(qpc::kAt, field); }
constexpr Field InRmp(Field field) { return In(rmpc::kAt, field); }
constexpr Field InDct(Field field) { return In(dctc::kAt, field); }
constexpr Field InMkey(Field field) { return In(mkc::kAt, field); }

constexpr uint32_t kNobody = 0xabcdef;
constexpr uint64_t kEnd = PrmBench::kMemoryBytes;

const Case kQueueCases[] = {
    {"no umem", Cq, With(cqc::kUmemValid, 0), Refusal::kNeedsUmem},
    {"unknown umem", Cq, With(cqc::kUmem, kNobody), Refusal::kNoUmem},
    {"ring beyond the end", Cq, With(cqc::kUmemOffset, kEnd - 64), Refusal::kRingOutside},
    {"ring's offset wraps", Cq, With(cqc::kUmemOffset, ~uint64_t{0} - 63), Refusal::kRingOutside},
    {"ring at an odd place", Cq, With(cqc::kUmemOffset, 0x2008), Refusal::kRingAlignment},
    {"record at an odd place", Cq, With(In(cqc::kAt, cqc::kDbr), 0x104), Refusal::kRecordAlignment},
    {"record beyond the end", Cq, With(In(cqc::kAt, cqc::kDbr), kEnd), Refusal::kRecordOutside},
    {"record's umem unknown", Cq, With(InCq(cqc::kDbrUmem), kNobody), Refusal::kNoUmem},
    {"a CQ's page", Cq, With(InCq(cqc::kUar), 5), Refusal::kNoUar},
    {"a CQ's event queue", Cq, With(InCq(cqc::kEqn), 200), Refusal::kNoEq},
    {"too many entries", Cq, With(InCq(cqc::kLogSize), 31), Refusal::kCqSize},
    {"CQEs of 256 bytes", Cq, With(InCq(cqc::kCqeSize), 2), Refusal::kCqeSize},
    {"compressed CQEs", Cq, With(InCq(cqc::kCompression), 1), Refusal::kCqCompression},
    {"resize", ModifyTheCq, With(kOpMod, cqc::kOpModResize), Refusal::kCqResize},
    {"CQ op_mod", ModifyTheCq, With(kOpMod, 7), Refusal::kUnknownOpMod},
    {"CQ field", ModifyTheCq, With(cqc::kSelect, 1 << 9), Refusal::kCqSelect},
    {"CQ to no event queue", ModifyTheCq, With(cqc::kSelect, cqc::kSelectEqn), Refusal::kNoEq},
    {"modify no CQ", ModifyTheCq, With(kNumber, kNobody), Refusal::kNoCq},
    {"service type", Qp, With(InQp(qpc::kServiceType), qpc::kXrc), Refusal::kServiceType},
    {"DBR-less", Qp, With(InQp(qpc::kSendDbrMode), 2), Refusal::kSendDbrMode},
    {"signatures", Qp, With(InQp(qpc::kWqSignature), 1), Refusal::kWqSignature},
    {"a QP's PD", Qp, With(InQp(qpc::kPd), kNobody), Refusal::kNoPd},
    {"a QP's send CQ", Qp, With(InQp(qpc::kSendCq), kNobody), Refusal::kNoCq},
    {"a QP's receive CQ", Qp, With(InQp(qpc::kReceiveCq), kNobody), Refusal::kNoCq},
    {"a QP's page", Qp, With(InQp(qpc::kUar), 5), Refusal::kNoUar},
    {"a QP's ring", Qp, With(qpc::kUmemOffset, kEnd - 512), Refusal::kRingOutside},
    {"a QP's record", Qp, With(In(qpc::kAt, qpc::kDbr), kEnd - 4), Refusal::kRecordOutside},
    {"kind of receive queue", Qp, With(InQp(qpc::kRqType), 2), Refusal::kRqType},
    {"no such SRQ", Qp,
     [](PrmBench&, Mailbox& mailbox) {
       mailbox.Put(InQp(qpc::kRqType), qpc::kSharedRq).Put(InQp(qpc::kSrq), kNobody);
     },
     Refusal::kNoRmp},
    {"stride of receives", Qp,
     [](PrmBench&, Mailbox& mailbox) {
       mailbox.Put(InQp(qpc::kRqType), qpc::kOwnRq).Put(InQp(qpc::kLogRqStride), 7);
     },
     Refusal::kRqSize},
};

const Case kOtherCases[] = {
    {"cyclic RMP", Rmp, With(InRmp(rmpc::kType), 1), Refusal::kRmpType},
    {"RMP in reset", Rmp, With(InRmp(rmpc::kState), rmpc::kReset), Refusal::kRmpState},
    {"RMP's stride", Rmp, With(InRmp(rmpc::kLogStride), 12), Refusal::kRqSize},
    {"RMP's depth", Rmp, With(InRmp(rmpc::kLogSize), 31), Refusal::kRqSize},
    {"RMP's PD", Rmp, With(InRmp(rmpc::kPd), kNobody), Refusal::kNoPd},
    {"RMP's ring", Rmp, With(In(rmpc::kAt, rmpc::kUmemOffset), kEnd), Refusal::kRingOutside},
    {"RMP to reset", ModifyTheRmp, With(InRmp(rmpc::kState), rmpc::kReset), Refusal::kRmpState},
    {"modify no RMP", ModifyTheRmp, With(kNumber, kNobody), Refusal::kNoRmp},
    {"DCT's PD", Dct, With(InDct(dctc::kPd), kNobody), Refusal::kNoPd},
    {"DCT's CQ", Dct, With(InDct(dctc::kCq), kNobody), Refusal::kNoCq},
    {"DCT's SRQ", Dct, With(InDct(dctc::kSrq), kNobody), Refusal::kNoRmp},
    {"DCT's MTU", Dct, With(InDct(dctc::kMtu), 7), Refusal::kMtu},
    {"DCT's port", Dct, With(InDct(dctc::kPort), 2), Refusal::kPort},
    {"indirect key", Mkey, With(InMkey(mkc::kAccessMode), 2), Refusal::kAccessMode},
    {"key for UMR", Mkey, With(InMkey(mkc::kUmr), 1), Refusal::kMkeyUmr},
    {"free key", Mkey, With(InMkey(mkc::kFree), 1), Refusal::kMkeyUmr},
    {"key of one QP", Mkey, With(InMkey(mkc::kQpn), 5), Refusal::kMkeyOfQp},
    {"key's PD", Mkey, With(InMkey(mkc::kPd), kNobody), Refusal::kNoPd},
    {"key's umem", Mkey, With(mkc::kUmem, kNobody), Refusal::kNoUmem},
    {"key of nothing", Mkey, With(In(mkc::kAt, mkc::kLength), 0), Refusal::kMkeyRange},
    {"key too long", Mkey, With(In(mkc::kAt, mkc::kLength), kEnd), Refusal::kMkeyRange},
    {"key that wraps", Mkey, With(In(mkc::kAt, mkc::kStart), ~uint64_t{0} - 8),
     Refusal::kMkeyRange},
    {"no MTU", ToRtr, With(InQp(qpc::kMtu), 0), Refusal::kMtu},
    {"MTU that is none", ToRtr, With(InQp(qpc::kMtu), 6), Refusal::kMtu},
    {"READs to answer", ToRtr, With(InQp(qpc::kLogRraMax), 5), Refusal::kRdAtomic},
    {"GID", ToRtr,
     [](PrmBench&, Mailbox& mailbox) {
       mailbox.Put(InQp(In(qpc::kPrimaryPath, ads::kGrh)), 1);
       mailbox.Put(InQp(In(qpc::kPrimaryPath, ads::kGidIndex)), 1);
     },
     Refusal::kGidIndex},
    {"QP of nobody", ToRtr, With(kNumber, kNobody), Refusal::kNoQp},
    {"too early", ToRtr, With(kOpcode, static_cast<uint32_t>(Opcode::kRtr2Rts)), Refusal::kQpState},
};

BOOST_AUTO_TEST_SUITE(PrmRefusals)

BOOST_AUTO_TEST_CASE(WhatIsOutOfOrderIsRefusedWithItsReasonAndLeavesNothing) {
  PrmBench bench;
  std::vector<Case> cases(std::begin(kQueueCases), std::end(kQueueCases));
  cases.insert(cases.end(), std::begin(kOtherCases), std::end(kOtherCases));
  for (const Case& c : cases) {
    BOOST_TEST_CONTEXT(c.what) {
      Mailbox mailbox = c.base(bench);
      const ObjectCounts before = bench.firmware.Count();
      c.change(bench, mailbox);
      const Answer answer = bench.Run(mailbox);
      BOOST_TEST(FactsOf(answer.refusal).name == FactsOf(c.refusal).name);
      BOOST_TEST(answer[kStatus] == static_cast<uint32_t>(FactsOf(c.refusal).status));
      BOOST_TEST(answer[kSyndrome] == FactsOf(c.refusal).syndrome);
      BOOST_TEST((bench.firmware.Count() == before));
    }
  }
}

BOOST_AUTO_TEST_CASE(UnknownCommandsAndShortMailboxesAreRefused) {
  PrmBench bench;
  const auto refusal = [&](const Mailbox& mailbox) { return bench.Run(mailbox).refusal; };
  BOOST_TEST((refusal(Mailbox(static_cast<Opcode>(0x777))) == Refusal::kUnknownOpcode));
  BOOST_TEST(
      (refusal(Mailbox(Opcode::kQueryHcaCap).Put(kOpMod, 0x30)) == Refusal::kUnknownCapGroup));
  BOOST_TEST((bench.firmware.Execute({}, {}, bench.uid) == Refusal::kInputTooShort));
  for (const CommandFacts& command : Commands()) {
    const Mailbox whole(command.opcode, command.in_bytes);
    Mailbox cut = whole;
    cut.Bytes().resize(command.in_bytes - 1);
    BOOST_TEST((refusal(cut) == Refusal::kInputTooShort), command.name);
    const Answer narrow = bench.RunAs(whole, bench.uid, command.out_bytes - 1);
    BOOST_TEST((narrow.refusal == Refusal::kOutputTooShort), command.name);
  }
}

BOOST_AUTO_TEST_CASE(OneUserDoesNotReachWhatIsAnothers) {
  PrmBench bench;
  const uint32_t qpn = bench.Run(bench.QpMailbox()).Number();
  const uint32_t dctn = bench.Run(bench.DctMailbox()).Number();
  const uint32_t key = bench.Run(bench.MkeyMailbox()).Number();
  const uint16_t other = bench.firmware.Open();
  const struct {
    Opcode opcode;
    uint32_t number;
  } kTries[] = {
      {Opcode::kQueryQp, qpn},        {Opcode::kDestroyQp, qpn},       {Opcode::k2Err, qpn},
      {Opcode::kQueryDct, dctn},      {Opcode::kDrainDct, dctn},       {Opcode::kQueryCq, bench.cq},
      {Opcode::kDestroyCq, bench.cq}, {Opcode::kQueryRmp, bench.rmp},  {Opcode::kDestroyMkey, key},
      {Opcode::kDeallocPd, bench.pd}, {Opcode::kDeallocUar, bench.uar}};
  for (const auto& [opcode, number] : kTries) {
    const Answer answer = bench.RunAs(Mailbox(opcode).Put(kNumber, number), other);
    BOOST_TEST((answer.refusal == Refusal::kForeign),
               FindCommand(static_cast<uint16_t>(opcode))->name);
  }
  BOOST_TEST((bench.RunAs(bench.CqMailbox(), other).refusal == Refusal::kForeign));
  BOOST_TEST((bench.RunAs(bench.QpMailbox(), other).refusal == Refusal::kForeign));
  BOOST_TEST((bench.firmware.DestroyUmem(bench.umem, other) == Refusal::kForeign));
  BOOST_TEST(bench.RunAs(Mailbox(Opcode::kQueryQp).Put(kNumber, qpn), 0).Ok());
}

BOOST_AUTO_TEST_CASE(WhatIsInUseIsNotDestroyed) {
  PrmBench bench;
  Mailbox shared = bench.QpMailbox();
  shared.Put(InQp(qpc::kRqType), qpc::kSharedRq).Put(InQp(qpc::kSrq), bench.rmp);
  const uint32_t qpn = bench.Run(shared).Number();
  const auto refusal = [&](Opcode opcode, uint32_t number) {
    return bench.Run(opcode, number).refusal;
  };
  BOOST_TEST((refusal(Opcode::kDestroyCq, bench.cq) == Refusal::kCqInUse));
  BOOST_TEST((refusal(Opcode::kDestroyRmp, bench.rmp) == Refusal::kRmpInUse));
  BOOST_TEST((refusal(Opcode::kDeallocPd, bench.pd) == Refusal::kPdInUse));
  BOOST_TEST((refusal(Opcode::kDeallocUar, bench.uar) == Refusal::kUarInUse));
  BOOST_TEST((bench.firmware.DestroyUmem(bench.umem, bench.uid) == Refusal::kUmemInUse));
  BOOST_TEST(bench.Run(Opcode::kDestroyQp, qpn).Ok());
  BOOST_TEST((refusal(Opcode::kQueryQp, qpn) == Refusal::kNoQp));
  BOOST_TEST(bench.Run(Opcode::kDestroyCq, bench.cq).Ok());
  BOOST_TEST(bench.Run(Opcode::kDestroyRmp, bench.rmp).Ok());
  BOOST_TEST(bench.Run(Opcode::kDeallocUar, bench.uar).Ok());
  BOOST_TEST(bench.Run(Opcode::kDeallocPd, bench.pd).Ok());
  BOOST_TEST((bench.firmware.DestroyUmem(bench.umem, bench.uid) == Refusal::kNone));
  BOOST_TEST(bench.firmware.Count().Total() == 0u);
}

BOOST_AUTO_TEST_CASE(LimitsOfTheNicAreTheFirmwares) {
  BenchOptions options;
  options.nic.limits.qps = 2;
  options.nic.limits.cqs = 2;
  options.nic.limits.srqs = 1;
  options.nic.limits.sq_depth_wqebbs = 8;
  options.uar_pages = 1;
  PrmBench bench(options);
  BOOST_TEST((bench.Run(bench.QpMailbox()).refusal == Refusal::kSqSize));
  const Mailbox small = bench.QpMailbox().Put(InQp(qpc::kLogSqSize), 3);
  BOOST_TEST(bench.Run(small).Ok());
  BOOST_TEST(bench.Run(small).Ok());
  BOOST_TEST((bench.Run(small).refusal == Refusal::kTooManyQps));
  BOOST_TEST((bench.Run(bench.DctMailbox()).refusal == Refusal::kTooManyQps));
  BOOST_TEST(bench.Run(bench.CqMailbox()).Ok());
  BOOST_TEST((bench.Run(bench.CqMailbox()).refusal == Refusal::kTooManyCqs));
  BOOST_TEST((bench.Run(bench.RmpMailbox()).refusal == Refusal::kTooManyRmps));
  BOOST_TEST((bench.Run(Mailbox(Opcode::kAllocUar)).refusal == Refusal::kTooManyUars));
}

BOOST_AUTO_TEST_CASE(AReadOnlyUmemTakesNoCqesAndNoWrites) {
  PrmBench bench;
  const uint32_t umem =
      bench.firmware.CreateUmem({bench.uid, bench.At(0), bench.kMemoryBytes, false, 0});
  BOOST_TEST(
      (bench.Run(bench.CqMailbox().Put(cqc::kUmem, umem)).refusal == Refusal::kUmemReadOnly));
  BOOST_TEST(
      (bench.Run(bench.MkeyMailbox().Put(mkc::kUmem, umem)).refusal == Refusal::kUmemReadOnly));
  BOOST_TEST(bench.Run(bench.QpMailbox().Put(qpc::kUmem, umem)).Ok());
}

// Every command from every state: only those of the table lead on, and to where it says.
BOOST_AUTO_TEST_CASE(TransitionsLeadFromTheirStateAlone) {
  using enum sim::State;
  PrmBench bench;
  const struct {
    Opcode opcode;
    sim::State from, to;
  } kPath[] = {{Opcode::kRst2Init, kReset, kInit},
               {Opcode::kInit2Init, kInit, kInit},
               {Opcode::kInit2Rtr, kInit, kReadyToReceive},
               {Opcode::kRtr2Rts, kReadyToReceive, kReadyToSend},
               {Opcode::kRts2Rts, kReadyToSend, kReadyToSend}};
  for (const uint32_t service : {qpc::kRc, qpc::kUc, qpc::kUd, qpc::kDci}) {
    for (const sim::State start : {kReset, kInit, kReadyToReceive, kReadyToSend, kError}) {
      for (const auto& step : kPath) {
        const uint32_t qpn = bench.Run(bench.QpMailbox(service)).Number();
        for (const auto& before : kPath) {
          if (before.from == before.to || start == kError || before.to > start) continue;
          BOOST_TEST(bench.Run(bench.StepMailbox(before.opcode, qpn, 0x10777)).Ok());
        }
        if (start == kError) BOOST_TEST(bench.Run(Opcode::k2Err, qpn).Ok());
        const Answer answer = bench.Run(bench.StepMailbox(step.opcode, qpn, 0x10777));
        const auto state = bench.loop.Function().FindQp(qpn)->state;
        BOOST_TEST(answer.Ok() == (step.from == start));
        if (!answer.Ok()) BOOST_TEST((answer.refusal == Refusal::kQpState));
        BOOST_TEST((state == (step.from == start ? step.to : start)));
        BOOST_TEST(bench.Run(Opcode::kDestroyQp, qpn).Ok());
      }
    }
  }
}

// A UD QP whose send queue failed goes on by SQERR2RTS.
BOOST_AUTO_TEST_CASE(AFailedSendQueueOfUdIsMendedBySqErr2Rts) {
  PrmBench bench;
  const uint32_t qpn = bench.Run(bench.QpMailbox(qpc::kUd)).Number();
  bench.BringUp(qpn, 0);
  BOOST_TEST(
      (bench.Run(bench.StepMailbox(Opcode::kSqErr2Rts, qpn, 0)).refusal == Refusal::kQpState));
  bench.loop.Function().FindQp(qpn)->state = sim::State::kSendQueueError;
  BOOST_TEST(bench.Run(bench.StepMailbox(Opcode::kSqErr2Rts, qpn, 0)).Ok());
  BOOST_TEST(bench.Run(Opcode::kQueryQp, qpn)[InQp(qpc::kState)] == 3u);
  // An RC QP knows no such transition.
  const uint32_t rc = bench.Run(bench.QpMailbox()).Number();
  bench.BringUp(rc, 0x10777);
  bench.loop.Function().FindQp(rc)->state = sim::State::kSendQueueError;
  BOOST_TEST(
      (bench.Run(bench.StepMailbox(Opcode::kSqErr2Rts, rc, 0)).refusal == Refusal::kQpTransition));
}

BOOST_AUTO_TEST_CASE(AddressTableHasItsEntriesAlone) {
  PrmBench eth({.link = wire::Link::kEthernet});
  BOOST_TEST((eth.Run(Mailbox(Opcode::kQueryRoceAddress).Put(roce_address::kIndex, 1)).refusal ==
              Refusal::kNoRoceAddress));
  PrmBench ib;
  BOOST_TEST((ib.Run(Mailbox(Opcode::kQueryRoceAddress)).refusal == Refusal::kNoRoceAddress));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::uverbs::prm
