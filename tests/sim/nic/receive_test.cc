// Receive queues and SRQs (contract, section 4).
#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;

// An SRQ of `wqes` WQEs of 48 bytes: a head and two SGEs.
struct SrqRing {
  SrqRing(Side& owner, uint32_t count) : side(owner), wqes(count) {
    ring = side.memory.Allocate(uint64_t{64} * count);
    record = side.memory.Allocate(8);
    srqn = side.nic.CreateSrq(side.pd, {ring, record, count, 64, true}).number;
  }
  void Put(uint32_t slot, uint32_t next, const Buffer& buffer, uint64_t offset, uint32_t bytes) {
    WqeBytes list(Opcode::kNop, 0);
    list.Big32(next).Big32(0).Big64(0);
    list.Data(bytes, buffer.key, buffer.address + offset).Data(0, kEndOfListKey, 0);
    std::memcpy(side.memory.At(ring + slot * 64), list.Finish(0, 0).data() + 16, 48);
  }
  void SetCount(uint32_t count) {
    const uint32_t word = abi::Swap32(count);
    std::memcpy(side.memory.At(record), &word, 4);
  }
  Side& side;
  uint32_t wqes;
  uint64_t ring = 0, record = 0;
  uint32_t srqn = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(AMessageIsScatteredOverItsListInOrder, RcFixture) {
  h.PostReceive(pipe.remote,
                {{target.address, target.key, 700}, {target.address + 0x1000, target.key, 2000}});
  Do(Send(2500));
  BOOST_TEST(std::memcmp(target.Bytes(), source.Bytes(), 700) == 0);
  BOOST_TEST(std::memcmp(target.Bytes() + 0x1000, source.Bytes() + 700, 1800) == 0);
}

BOOST_FIXTURE_TEST_CASE(ReceivesAreTakenInOrderAndCompleteWithTheirIndex, RcFixture) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 16; ++i) PostReceive();
    for (int i = 0; i < 16; ++i) Do(Send(8));
    const auto received = h.PollReceives(pipe.remote);
    BOOST_TEST_REQUIRE(received.size() == 16u);
    for (int i = 0; i < 16; ++i) BOOST_TEST(CounterOf(received[i]) == round * 16 + i);
  }
}

BOOST_FIXTURE_TEST_CASE(AnEmptySendTakesAReceiveToo, RcFixture) {
  PostReceive();
  Do(WqeBytes(Opcode::kSend, kSignalled));
  BOOST_TEST(BytesOf(h.PollReceives(pipe.remote).at(0)) == 0u);
}

BOOST_FIXTURE_TEST_CASE(AListOfZerosIsAnEmptyReceive, RcFixture) {
  h.PostReceive(pipe.remote, {{0, 0, 0}});
  Do(WqeBytes(Opcode::kRdmaWriteImm, kSignalled)
         .Remote(target.address, target.key)
         .Data(8, source.key, source.address));
  BOOST_TEST(h.PollReceives(pipe.remote).size() == 1u);
}

BOOST_AUTO_TEST_CASE(AnSrqIsFollowedAlongItsLinks) {
  Harness h;
  SrqRing srq(h.b, 4);
  const Buffer source = h.Register(h.a, 64), target = h.Register(h.b, 4096);
  // 0 -> 2 -> 1 -> 3: software linked them as they came free.
  const uint32_t next[] = {2, 3, 1, 0};
  for (uint32_t i = 0; i < 4; ++i) srq.Put(i, next[i], target, 0x100 * i, 64);
  srq.SetCount(4);
  Pipe pipe = h.Connect({}, {.srq = srq.srqn});
  for (int i = 0; i < 4; ++i) {
    h.Post(pipe.local, WqeBytes(Opcode::kSend, kSignalled).Data(16, source.key, source.address));
  }
  BOOST_TEST(h.Run());
  const auto received = h.PollReceives(pipe.remote);
  BOOST_TEST_REQUIRE(received.size() == 4u);
  const uint16_t order[] = {0, 2, 1, 3};
  for (int i = 0; i < 4; ++i) BOOST_TEST(CounterOf(received[i]) == order[i]);
}

BOOST_AUTO_TEST_CASE(QpsShareAnSrqAndItsLimitIsSaidOnce) {
  Harness h;
  SrqRing srq(h.b, 8);
  const Buffer source = h.Register(h.a, 64), target = h.Register(h.b, 4096);
  for (uint32_t i = 0; i < 8; ++i) srq.Put(i, (i + 1) % 8, target, 0x100 * i, 64);
  srq.SetCount(4);
  Pipe first = h.Connect({}, {.srq = srq.srqn});
  Pipe second = h.Connect({}, {.srq = srq.srqn});
  h.b.nic.ArmSrqLimit(srq.srqn, 3);
  for (Pipe* pipe : {&first, &second, &first, &second}) {
    h.Post(pipe->local, WqeBytes(Opcode::kSend, kSignalled).Data(16, source.key, source.address));
    BOOST_TEST(h.Run());
  }
  BOOST_TEST(h.PollReceives(first.remote).size() == 2u);
  BOOST_TEST(h.PollReceives(second.remote).size() == 2u);
  const auto events = h.b.nic.TakeEvents();
  BOOST_TEST_REQUIRE(events.size() == 1u);
  BOOST_TEST((events[0].kind == EventKind::kSrqLimit && events[0].number == srq.srqn));
  BOOST_TEST(h.b.nic.DestroySrq(srq.srqn) != "");
}

BOOST_AUTO_TEST_CASE(AnErrorLeavesTheSrqToOthers) {
  Harness h;
  SrqRing srq(h.b, 4);
  const Buffer target = h.Register(h.b, 64);
  srq.Put(0, 1, target, 0, 64);
  srq.SetCount(1);
  Pipe pipe = h.Connect({}, {.srq = srq.srqn});
  QpAttributes error;
  error.state = State::kError;
  h.b.nic.ModifyQp(pipe.remote.qpn, error, kAttrState);
  BOOST_TEST(h.PollReceives(pipe.remote).empty());
  BOOST_TEST((h.b.nic.TakeEvents().at(0).kind == EventKind::kLastWqeReached));
}

BOOST_FIXTURE_TEST_CASE(AnErrorFlushesTheQpsOwnReceives, RcFixture) {
  for (int i = 0; i < 3; ++i) PostReceive();
  QpAttributes error;
  error.state = State::kError;
  h.b.nic.ModifyQp(pipe.remote.qpn, error, kAttrState);
  const auto received = h.PollReceives(pipe.remote);
  BOOST_TEST_REQUIRE(received.size() == 3u);
  for (uint16_t i = 0; i < 3; ++i) {
    BOOST_TEST((OpcodeOf(received[i]) == abi::CqeOpcode::kResponderError));
    BOOST_TEST(SyndromeOf(received[i]) == static_cast<int>(abi::Syndrome::kFlushed));
    BOOST_TEST(CounterOf(received[i]) == i);
  }
}

BOOST_FIXTURE_TEST_CASE(AReceiveIsAnnouncedWithTheBytesThatCount, RcFixture) {
  h.b.memory.keep_uses = true;
  h.PostReceive(pipe.remote, {{target.address, target.key, 100}});
  Do(Send(8));
  const auto& uses = h.b.memory.uses;
  BOOST_TEST_REQUIRE(uses.size() == 1u);
  BOOST_TEST((uses[0].purpose == Purpose::kReceiveWqe && uses[0].size == 32));
}

}  // namespace ringpost::sim
