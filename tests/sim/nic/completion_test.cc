// Completion queues: owner bit, collapsed and overrun, sharing, events (contract, section 3).
#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;

uint64_t ArmDoorbell(uint32_t cqn, uint32_t consumer, bool solicited) {
  const uint32_t word = abi::Swap32((solicited ? 1u << 24 : 0) | (consumer & 0xffffff));
  return uint64_t{abi::Swap32(cqn)} << 32 | word;
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheOwnerBitTogglesWithEachLap) {
  RcFixture f({}, {.cq_entries = 4});
  for (uint32_t i = 0; i < 20; ++i) {
    const abi::Cqe cqe = f.Do(f.Write(8));
    BOOST_TEST((cqe.op_own & 1) == ((i / 4) & 1));
  }
}

BOOST_AUTO_TEST_CASE(ACollapsedCqRewritesSlotZero) {
  RcFixture f({}, {.cq_entries = 16, .collapsed = true, .overrun_ignore = true});
  for (uint16_t i = 0; i < 40; ++i) {
    f.h.Post(f.pipe.local, f.Write(8));
    BOOST_TEST(f.h.Run());
    abi::Cqe cqe;
    std::memcpy(&cqe, f.h.a.memory.At(f.pipe.local.cq), sizeof(cqe));
    BOOST_TEST(CounterOf(cqe) == i);
    BOOST_TEST(*f.h.a.memory.At(f.pipe.local.cq + 64) == 0xf1);
  }
}

BOOST_AUTO_TEST_CASE(AnEntryOf128BytesIsWrittenWholeIfPaddedElseItsUpperHalf) {
  for (const bool padded : {false, true}) {
    RcFixture f;
    Side& side = f.h.a;
    const uint64_t ring = side.memory.Allocate(4 * 128);
    std::memset(side.memory.At(ring), 0xf1, 4 * 128);
    const uint32_t cqn = side.nic
                             .CreateCq({.ring = ring,
                                        .entries = 4,
                                        .padded = padded,
                                        .overrun_ignore = true,
                                        .entry_bytes = 128})
                             .number;
    Pipe pipe = f.h.Connect({.cqn = cqn, .cq = ring}, {.rq_depth = 16});
    f.h.Post(pipe.local, f.Write(8));
    BOOST_TEST(f.h.Run());
    const uint8_t* entry = side.memory.At(ring);
    for (const int at : {0, 63}) BOOST_TEST(int{entry[at]} == (padded ? 0 : 0xf1));
    BOOST_TEST(int{entry[127]} == 0);  // a requester's, of the first lap
    BOOST_TEST(int{entry[128]} == 0xf1);
  }
}

BOOST_AUTO_TEST_CASE(ACollapsedCqEndsWithTheLastFlush) {
  RcFixture f({}, {.cq_entries = 1, .collapsed = true, .overrun_ignore = true});
  f.target.key ^= 1;
  for (int i = 0; i < 3; ++i) f.h.Post(f.pipe.local, f.Write(8));
  BOOST_TEST(f.h.Run());
  abi::Cqe cqe;
  std::memcpy(&cqe, f.h.a.memory.At(f.pipe.local.cq), sizeof(cqe));
  BOOST_TEST(CounterOf(cqe) == 2u);
  BOOST_TEST(SyndromeOf(cqe) == static_cast<int>(abi::Syndrome::kFlushed));
}

BOOST_AUTO_TEST_CASE(AnOverrunFailsTheCqAndItsQp) {
  RcFixture f({}, {.cq_entries = 4});
  for (int i = 0; i < 5; ++i) f.h.Post(f.pipe.local, f.Write(8));
  BOOST_TEST(f.h.Run());
  BOOST_TEST(f.h.a.nic.Count().cq_overruns == 1u);
  BOOST_TEST((f.LocalState() == State::kError));
  const std::vector<AsyncEvent> events = f.h.a.nic.TakeEvents();
  BOOST_TEST_REQUIRE(!events.empty());
  BOOST_TEST((events[0].kind == EventKind::kCqError && events[0].number == f.pipe.local.cqn));
  BOOST_TEST(f.h.Poll(f.pipe.local).size() == 4u);
}

BOOST_AUTO_TEST_CASE(WithOverrunIgnoredNobodyLooksAtTheConsumerIndex) {
  RcFixture f({}, {.cq_entries = 4, .overrun_ignore = true});
  for (int i = 0; i < 40; ++i) f.h.Post(f.pipe.local, f.Write(8));
  BOOST_TEST(f.h.Run());
  BOOST_TEST((f.LocalState() == State::kReadyToSend));
  BOOST_TEST(f.h.a.nic.Count().cqes == 40u);
}

BOOST_AUTO_TEST_CASE(QpsThatShareACqAreToldApartByUserIndexAndQpn) {
  RcFixture f({}, {.user_index = 0x777});
  End second =
      f.h.MakeEnd(f.h.a, {.cqn = f.pipe.local.cqn, .cq = f.pipe.local.cq, .user_index = 0x888});
  End peer = f.h.MakeEnd(f.h.b, {});
  f.h.Ready(second, f.h.b, peer.qpn);
  f.h.Ready(peer, f.h.a, second.qpn);
  f.h.Post(f.pipe.local, f.Write(8));
  BOOST_TEST(f.h.Run());
  f.h.Post(second, f.Write(8));
  const auto cqes = f.Finish();
  BOOST_TEST_REQUIRE(cqes.size() == 2u);
  BOOST_TEST(abi::Swap32(cqes[0].srqn_uidx) == 0x777u);
  BOOST_TEST(abi::Swap32(cqes[1].srqn_uidx) == 0x888u);
  BOOST_TEST(abi::Swap32(cqes[1].sop_drop_qpn) == ((0x08u << 24) | second.qpn));
}

BOOST_FIXTURE_TEST_CASE(AnArmedCqSaysOnceThatItHasSomething, RcFixture) {
  const uint32_t cqn = pipe.local.cqn;
  h.a.nic.RingArm(ArmDoorbell(cqn, 0, false));
  BOOST_TEST(!h.a.nic.HasEvents());
  Do(Write(8));
  Do(Write(8));
  const auto events = h.a.nic.TakeEvents();
  BOOST_TEST_REQUIRE(events.size() == 1u);
  BOOST_TEST((events[0].kind == EventKind::kCompletion && events[0].number == cqn));
  // Armed for less than what is there already: at once.
  h.a.nic.RingArm(ArmDoorbell(cqn, 1, false));
  BOOST_TEST(h.a.nic.TakeEvents().size() == 1u);
  h.a.nic.RingArm(ArmDoorbell(cqn, 2, false));
  BOOST_TEST(!h.a.nic.HasEvents());
}

BOOST_FIXTURE_TEST_CASE(ACqArmedForSolicitedWaitsForOne, RcFixture) {
  PostReceive();
  PostReceive();
  h.b.nic.RingArm(ArmDoorbell(pipe.remote.receive_cqn, 0, true));
  Do(Send(8));
  BOOST_TEST(!h.b.nic.HasEvents());
  Do(Send(8, kSignalled | abi::kSolicited));
  BOOST_TEST(h.b.nic.TakeEvents().size() == 1u);
  BOOST_TEST((h.PollReceives(pipe.remote).at(1).op_own & 2) == 2);
}

BOOST_FIXTURE_TEST_CASE(TheArmWordOfTheRecordCountsWhereThePageWasOverwritten, RcFixture) {
  const uint32_t word = abi::Swap32(0);
  std::memcpy(h.a.memory.At(pipe.local.cq_record + 4), &word, 4);
  h.a.nic.RefreshArm(pipe.local.cqn);
  Do(Write(8));
  BOOST_TEST(h.a.nic.TakeEvents().size() == 1u);
}

BOOST_AUTO_TEST_CASE(ACqInUseIsNotDestroyed) {
  RcFixture f;
  BOOST_TEST(f.h.a.nic.DestroyCq(f.pipe.local.cqn) != "");
  BOOST_TEST(f.h.a.nic.DestroyQp(f.pipe.local.qpn) == "");
  BOOST_TEST(f.h.a.nic.DestroyCq(f.pipe.local.cqn) == "");
  BOOST_TEST(f.h.a.nic.FindQp(f.pipe.local.qpn) == nullptr);
}

}  // namespace ringpost::sim
