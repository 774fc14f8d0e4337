// What goes wrong on RC: root causes, syndromes, flushes and states (contract, sections 3.2 and 8).
#include "sim/nic/timer_codes.h"
#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;
using abi::Syndrome;

void CheckError(const abi::Cqe& cqe, Syndrome syndrome, int vendor) {
  BOOST_TEST((OpcodeOf(cqe) == abi::CqeOpcode::kRequesterError));
  BOOST_TEST(SyndromeOf(cqe) == static_cast<int>(syndrome));
  BOOST_TEST(VendorOf(cqe) == vendor);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ARemoteAccessNeedsKeyRangeDomainAndRights) {
  struct Case {
    const char* what;
    int64_t offset;
    uint32_t bytes;
    uint8_t rights;
    uint8_t qp_rights;
    uint32_t key_change;
    bool allowed;
  };
  constexpr uint8_t kWrite = kMayWriteRemotely, kAll = kMayWriteRemotely | kMayReadRemotely;
  const Case cases[] = {
      {"whole range", 0, 256, kWrite, kAll, 0, true},
      {"last byte", 255, 1, kWrite, kAll, 0, true},
      {"one byte beyond", 255, 2, kWrite, kAll, 0, false},
      {"one byte before", -1, 8, kWrite, kAll, 0, false},
      {"wraps", -int64_t{1} << 62, 256, kWrite, kAll, 0, false},
      {"key without the right", 0, 8, kMayReadRemotely, kAll, 0, false},
      {"QP without the right", 0, 8, kWrite, kMayReadRemotely, 0, false},
      {"other variant", 0, 8, kWrite, kAll, 1, false},
      {"other index", 0, 8, kWrite, kAll, 0x100, false},
      {"other slot", 0, 8, kWrite, kAll, 0x1000000, false},
  };
  for (const Case& c : cases) {
    RcFixture f;
    f.h.Qp(f.pipe.remote).attributes.access = c.qp_rights;
    const Buffer window = f.h.Register(f.h.b, 256, c.rights);
    const abi::Cqe cqe = f.Do(
        WqeBytes(Opcode::kRdmaWrite, kSignalled)
            .Remote(window.address + static_cast<uint64_t>(c.offset), window.key ^ c.key_change)
            .Data(c.bytes, f.source.key, f.source.address));
    BOOST_TEST(IsError(cqe) == !c.allowed, c.what);
    if (c.allowed) continue;
    CheckError(cqe, Syndrome::kRemoteAccess, 0x88);
    BOOST_TEST((f.LocalState() == State::kError && f.RemoteState() == State::kError));
    BOOST_TEST((f.h.b.nic.TakeEvents().back().kind == EventKind::kQpAccessError));
  }
}

// None of the WRITEs before it has asked for an acknowledgement when its key turns out to be bad.
BOOST_AUTO_TEST_CASE(AFailedWqeBehindUnsignalledOnesWaitsForNoTimer) {
  RcFixture f;
  f.h.timers_run = false;
  for (int i = 0; i < 3; ++i) f.h.Store(f.pipe.local, f.Write(8, abi::kCqeOnError));
  f.source.key ^= 1;
  f.h.Store(f.pipe.local, f.Write(8));
  f.h.SetRecord(f.pipe.local);
  f.h.Ring(f.pipe.local);
  const auto cqes = f.Finish();
  BOOST_TEST_REQUIRE(cqes.size() == 1u);
  CheckError(cqes[0], Syndrome::kLocalProtection, 0x51);
  BOOST_TEST(CounterOf(cqes[0]) == 3);
  // Each of them once more at most, however long the answer takes.
  BOOST_TEST(f.h.a.nic.Count().packets_retransmitted > 0u);
  BOOST_TEST(f.h.a.nic.Count().packets_retransmitted <= 3u);
}

BOOST_AUTO_TEST_CASE(AKeyOfAnotherDomainIsRefused) {
  RcFixture f;
  const uint32_t pd = f.h.b.nic.Keys().AllocatePd();
  f.target.key =
      f.h.b.nic.Keys().Register({f.target.address, f.target.address, 64, pd, kMayWriteRemotely});
  CheckError(f.Do(f.Write(8)), Syndrome::kRemoteAccess, 0x88);
}

BOOST_FIXTURE_TEST_CASE(ABadLocalKeyNeverReachesTheWire, RcFixture) {
  source.key ^= 1;
  CheckError(Do(Write(8)), Syndrome::kLocalProtection, 0x51);
  BOOST_TEST(h.b.nic.Count().packets_received == 0u);
  BOOST_TEST((LocalState() == State::kError && RemoteState() == State::kReadyToSend));
}

BOOST_FIXTURE_TEST_CASE(AReadIntoMemoryThatMayNotBeWrittenIsALocalError, RcFixture) {
  source = h.Register(h.a, 64, kMayReadRemotely);
  CheckError(Do(Read(8)), Syndrome::kLocalProtection, 0x51);
}

BOOST_FIXTURE_TEST_CASE(AnUnknownOpcodeIsALocalQpOperationError, RcFixture) {
  CheckError(Do(WqeBytes(static_cast<Opcode>(0x25), kSignalled)), Syndrome::kLocalQpOperation,
             0x68);
}

BOOST_FIXTURE_TEST_CASE(AMessageBeyondTheLimitIsALocalLengthError, RcFixture) {
  CheckError(Do(Write((1u << 30) + 1)), Syndrome::kLocalLength, 0);
}

BOOST_AUTO_TEST_CASE(AByteCountOfZeroMeans2GiBOnAConnectXAndNothingInTheSpecification) {
  RcFixture connectx;
  const auto zero = [](RcFixture& f) {
    return f.Do(WqeBytes(Opcode::kRdmaWrite, kSignalled)
                    .Remote(f.target.address, f.target.key)
                    .Data(0, f.source.key, f.source.address));
  };
  CheckError(zero(connectx), Syndrome::kLocalLength, 0);
  RcFixture strict({.behaviour = Behaviour::kStrict});
  BOOST_TEST(!IsError(zero(strict)));
}

BOOST_FIXTURE_TEST_CASE(TheRootCauseComesFirstThenAFlushForEachLaterWqe, RcFixture) {
  h.Store(pipe.local, Write(8, 0));
  h.Store(pipe.local, Write(8, 0));
  target.key ^= 1;
  h.Store(pipe.local, Write(8, 0));
  target.key ^= 1;
  for (int i = 0; i < 3; ++i) h.Store(pipe.local, Write(8, 0));
  h.SetRecord(pipe.local);
  h.Ring(pipe.local);
  const auto cqes = Finish();
  BOOST_TEST_REQUIRE(cqes.size() == 4u);
  CheckError(cqes[0], Syndrome::kRemoteAccess, 0x88);
  for (uint16_t i = 0; i < 4; ++i) BOOST_TEST(CounterOf(cqes[i]) == i + 2);
  for (size_t i = 1; i < 4; ++i) CheckError(cqes[i], Syndrome::kFlushed, 0xf9);
  // Work posted in ERR is flushed once a doorbell comes.
  h.Post(pipe.local, Write(8, 0));
  const auto late = Finish();
  BOOST_TEST_REQUIRE(late.size() == 1u);
  CheckError(late[0], Syndrome::kFlushed, 0xf9);
}

BOOST_FIXTURE_TEST_CASE(SoftwareErrorFlushesWhatIsOutstandingHeadFirst, RcFixture) {
  h.timers_run = false;
  h.on_wire = [](wire::Packet&) { return false; };
  for (int i = 0; i < 3; ++i) h.Post(pipe.local, Write(8, 0));
  h.Run();
  QpAttributes error;
  error.state = State::kError;
  BOOST_TEST(h.a.nic.ModifyQp(pipe.local.qpn, error, kAttrState) == "");
  const auto cqes = h.Poll(pipe.local);
  BOOST_TEST_REQUIRE(cqes.size() == 3u);
  CheckError(cqes[0], Syndrome::kFlushed, 0xf5);
  CheckError(cqes[1], Syndrome::kFlushed, 0xf9);
  CheckError(cqes[2], Syndrome::kFlushed, 0xf9);
}

BOOST_FIXTURE_TEST_CASE(SoftwareErrorWithNothingOutstandingWritesNoCqe, RcFixture) {
  h.Post(pipe.local, Write(8, 0));
  BOOST_TEST(Finish().empty());
  QpAttributes error;
  error.state = State::kError;
  h.a.nic.ModifyQp(pipe.local.qpn, error, kAttrState);
  BOOST_TEST(h.Poll(pipe.local).empty());
}

BOOST_AUTO_TEST_CASE(AStaleRecordHidesTheErrorOnAConnectX) {
  for (const Behaviour behaviour : {Behaviour::kMlx5, Behaviour::kStrict}) {
    RcFixture f({.behaviour = behaviour});
    f.source.key ^= 1;
    f.h.Store(f.pipe.local, f.Write(8));
    f.h.Store(f.pipe.local, f.Write(8));
    f.h.Ring(f.pipe.local);
    const auto cqes = f.Finish();
    BOOST_TEST((f.LocalState() == State::kError));
    BOOST_TEST(cqes.size() == (behaviour == Behaviour::kMlx5 ? 0u : 2u));
  }
}

BOOST_FIXTURE_TEST_CASE(APeerThatIsGoneUsesUpTheRetries, RcFixture) {
  h.on_wire = [](wire::Packet&) { return false; };
  CheckError(Do(Write(8)), Syndrome::kTransportRetryExceeded, 0x81);
  BOOST_TEST(h.a.nic.Count().timeouts == 7u);
  BOOST_TEST(h.a.nic.Count().packets_sent == 7u);
}

BOOST_FIXTURE_TEST_CASE(APeerInErrDropsSilently, RcFixture) {
  QpAttributes error;
  error.state = State::kError;
  h.b.nic.ModifyQp(pipe.remote.qpn, error, kAttrState);
  CheckError(Do(Write(8)), Syndrome::kTransportRetryExceeded, 0x81);
  BOOST_TEST(h.b.nic.Count().packets_sent == 0u);
}

BOOST_AUTO_TEST_CASE(TimeoutsFollowTheFirmwaresFloor) {
  BOOST_TEST(AckTimeoutNs(14, Behaviour::kMlx5) == (8192ull << 16));
  BOOST_TEST(AckTimeoutNs(20, Behaviour::kMlx5) == (8192ull << 20));
  BOOST_TEST(AckTimeoutNs(14, Behaviour::kStrict) == (4096ull << 14));
  BOOST_TEST(AckTimeoutNs(0, Behaviour::kMlx5) == 0u);
  BOOST_TEST(RnrDelayNs(12) == 640000u);
  BOOST_TEST(RnrDelayNs(0) == 655360000u);
  BOOST_TEST(RnrDelayNs(31) == 491520000u);
  BOOST_TEST(TimeoutsToFail(7, Behaviour::kMlx5) == 7u);
  BOOST_TEST(TimeoutsToFail(7, Behaviour::kStrict) == 8u);
}

BOOST_AUTO_TEST_CASE(WithoutAReceiveTheRequesterComesBackAndGivesUp) {
  for (const uint8_t retries : {uint8_t{0}, uint8_t{3}}) {
    RcFixture f;
    f.h.Qp(f.pipe.local).attributes.rnr_retry = retries;
    CheckError(f.Do(f.Send(8)), Syndrome::kRnrRetryExceeded, 0x87);
    BOOST_TEST(f.h.b.nic.Count().rnr_naks_sent == retries + 1u);
    BOOST_TEST((f.RemoteState() == State::kReadyToSend));
  }
}

BOOST_FIXTURE_TEST_CASE(RnrRetrySevenWaitsUntilAReceiveIsPosted, RcFixture) {
  h.Post(pipe.local, Send(8));
  BOOST_TEST(!h.Run(2000));
  PostReceive();
  BOOST_TEST(Finish().size() == 1u);
  BOOST_TEST(Same(8));
}

BOOST_FIXTURE_TEST_CASE(AMessageLongerThanItsReceiveFailsBothSides, RcFixture) {
  PostReceive(100);
  CheckError(Do(Send(200)), Syndrome::kRemoteInvalidRequest, 0x8a);
  const auto received = h.PollReceives(pipe.remote);
  BOOST_TEST_REQUIRE(received.size() == 1u);
  BOOST_TEST((OpcodeOf(received[0]) == abi::CqeOpcode::kResponderError));
  BOOST_TEST(SyndromeOf(received[0]) == static_cast<int>(Syndrome::kLocalLength));
  BOOST_TEST((RemoteState() == State::kError));
}

BOOST_FIXTURE_TEST_CASE(AReceiveWithABadKeyIsARemoteOperationError, RcFixture) {
  h.PostReceive(pipe.remote, {{target.address, target.key ^ 1, 100}});
  h.PostReceive(pipe.remote, {{target.address, target.key, 100}});
  CheckError(Do(Send(50)), Syndrome::kRemoteOperation, 0x89);
  const auto received = h.PollReceives(pipe.remote);
  BOOST_TEST_REQUIRE(received.size() == 2u);
  BOOST_TEST(SyndromeOf(received[0]) == static_cast<int>(Syndrome::kLocalProtection));
  BOOST_TEST(SyndromeOf(received[1]) == static_cast<int>(Syndrome::kFlushed));
}

BOOST_FIXTURE_TEST_CASE(AWriteWithImmediateToABadKeyFailsTheReceiveToo, RcFixture) {
  PostReceive();
  CheckError(Do(WqeBytes(Opcode::kRdmaWriteImm, kSignalled)
                    .Remote(target.address, target.key ^ 1)
                    .Data(8, source.key, source.address)),
             Syndrome::kRemoteAccess, 0x88);
  BOOST_TEST(SyndromeOf(h.PollReceives(pipe.remote).at(0)) ==
             static_cast<int>(Syndrome::kLocalAccess));
}

BOOST_FIXTURE_TEST_CASE(AResponseThatFitsNoRequestIsABadResponse, RcFixture) {
  h.on_wire = [](wire::Packet& packet) {
    if (packet.opcode == wire::Opcode::kRcReadResponseOnly) packet.payload.resize(4);
    return true;
  };
  CheckError(Do(Read(8)), Syndrome::kBadResponse, 0);
}

BOOST_FIXTURE_TEST_CASE(MoreReadsThanTheResponderTakesAreAnInvalidRequest, RcFixture) {
  h.Qp(pipe.remote).attributes.max_dest_rd_atomic = 0;
  CheckError(Do(Read(8)), Syndrome::kRemoteInvalidRequest, 0x8a);
}

BOOST_FIXTURE_TEST_CASE(APathMtuThatDiffersIsAnInvalidRequest, RcFixture) {
  h.Qp(pipe.remote).mtu = 256;
  CheckError(Do(Write(1000)), Syndrome::kRemoteInvalidRequest, 0x8a);
}

BOOST_FIXTURE_TEST_CASE(AnInjectedErrorHitsItsWqeBehindThoseBeforeIt, RcFixture) {
  h.a.nic.InjectFailure(h.Qp(pipe.local), {2, Syndrome::kRemoteOperation});
  for (int i = 0; i < 4; ++i) h.Post(pipe.local, Write(8));
  const auto cqes = Finish();
  BOOST_TEST_REQUIRE(cqes.size() == 4u);
  BOOST_TEST(!IsError(cqes[1]));
  CheckError(cqes[2], Syndrome::kRemoteOperation, 0);
  CheckError(cqes[3], Syndrome::kFlushed, 0xf9);
}

BOOST_FIXTURE_TEST_CASE(ResetStartsTheWqeCounterAnewAndLeavesTheCqAlone, RcFixture) {
  Do(Write(8));
  Do(Write(8));
  QpAttributes reset;
  reset.state = State::kReset;
  h.a.nic.ModifyQp(pipe.local.qpn, reset, kAttrState);
  h.b.nic.ModifyQp(pipe.remote.qpn, reset, kAttrState);
  h.Ready(pipe.local, h.b, pipe.remote.qpn);
  h.Ready(pipe.remote, h.a, pipe.local.qpn);
  pipe.local.producer = 0;
  BOOST_TEST(CounterOf(Do(Write(8))) == 0u);
  BOOST_TEST(h.a.nic.FindCq(pipe.local.cqn)->producer == 3u);
}

BOOST_FIXTURE_TEST_CASE(ATimerOfAnEarlierGenerationDoesNothing, RcFixture) {
  h.timers_run = false;
  h.on_wire = [](wire::Packet&) { return false; };
  h.Post(pipe.local, Write(8));
  h.Run();
  QpContext& qp = h.Qp(pipe.local);
  const Facts facts = h.a.nic.OnTimer(qp, TimerKind::kAck, qp.requester.generation - 1);
  BOOST_TEST(!facts.may_send);
  BOOST_TEST(h.a.nic.OnTimer(qp, TimerKind::kAck, qp.requester.generation).may_send);
}

}  // namespace ringpost::sim
