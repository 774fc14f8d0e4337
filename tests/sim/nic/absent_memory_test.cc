// Memory that a key or a queue names and that is not there: whoever is to use it ends in an error,
// never with other bytes, and never waits for ever.
#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;
using abi::Syndrome;

constexpr uint64_t kAbsent = PlainMemory::kAbsent;

// Registered memory of which the first `present` bytes are there.
Buffer Partly(Side& side, uint64_t present) {
  const uint64_t bytes = present + 0x4000;
  uint64_t end = side.memory.Allocate(0);
  while (side.memory.Holds(end, 64)) end += 64;
  const uint64_t begin = end - present;
  const uint8_t rights = kMayWriteLocally | kMayWriteRemotely | kMayReadRemotely | kMayUseAtomics;
  return {&side, begin, side.nic.Keys().Register({begin, begin, bytes, side.pd, rights})};
}

bool Has(Rnic& nic, EventKind kind, uint32_t number) {
  for (const AsyncEvent& event : nic.TakeEvents()) {
    if (event.kind == kind && event.number == number) return true;
  }
  return false;
}

wire::Packet Request(const RcFixture& f, wire::Opcode opcode, uint32_t psn, uint32_t bytes) {
  wire::Packet packet;
  packet.opcode = opcode;
  packet.dest_qpn = f.pipe.remote.qpn;
  packet.psn = psn;
  packet.remote_address = f.target.address;
  packet.remote_key = f.target.key;
  packet.dma_length = bytes;
  return packet;
}

}  // namespace

// One packet, and several of which the first can be answered.
BOOST_AUTO_TEST_CASE(AReadOfMemoryThatHasGoneIsARemoteAccessErrorAndBringsNoZeros) {
  for (const uint32_t present : {0u, 2048u}) {
    RcFixture f;
    f.target = Partly(f.h.b, present);
    f.h.Post(f.pipe.local, f.Read(present + 2000));
    f.h.Post(f.pipe.local, f.Write(8));
    const auto cqes = f.Finish();
    BOOST_TEST_REQUIRE(cqes.size() == 2u);
    BOOST_TEST(SyndromeOf(cqes[0]) == static_cast<int>(Syndrome::kRemoteAccess));
    BOOST_TEST(VendorOf(cqes[0]) == 0x88);
    BOOST_TEST(SyndromeOf(cqes[1]) == static_cast<int>(Syndrome::kFlushed));
    for (uint32_t i = present; i < present + 2000; ++i) {
      BOOST_TEST_REQUIRE(f.source.Bytes()[i] == static_cast<uint8_t>(i * 7 + 3));
    }
    BOOST_TEST((f.RemoteState() == State::kError));
    BOOST_TEST(f.h.b.nic.Count().naks_sent == 1u);
    BOOST_TEST(f.h.b.nic.Count().access_violations == 1u);
    BOOST_TEST(Has(f.h.b.nic, EventKind::kQpAccessError, f.pipe.remote.qpn));
  }
}

// A WRITE behind the READ changes what there is of its memory before the answer has left, which can
// be kept no more than the rest: the READ is refused, also if that has come back by then.
BOOST_FIXTURE_TEST_CASE(AReadWhoseBytesCouldNotBeKeptIsRefused, RcFixture) {
  target = Partly(h.b, 64);
  const uint32_t psn = h.Qp(pipe.remote).responder.expected;
  h.b.nic.Receive(Request(*this, wire::Opcode::kRcReadRequest, psn, 128), h.a.address);
  wire::Packet write = Request(*this, wire::Opcode::kRcWriteOnly, PsnAfter(psn, 1), 8);
  write.payload.resize(8, 0x77);
  h.b.nic.Receive(write, h.a.address);
  h.b.memory.Allocate(1 << 21);
  wire::Packet answer;
  const Address* to = nullptr;
  BOOST_TEST_REQUIRE(h.b.nic.NextResponse(h.Qp(pipe.remote), answer, &to));
  BOOST_TEST((answer.opcode == wire::Opcode::kRcAck));
  BOOST_TEST(int{answer.syndrome} == 0x62);
  BOOST_TEST(answer.psn == psn);
  BOOST_TEST(!h.b.nic.NextResponse(h.Qp(pipe.remote), answer, &to));
}

BOOST_FIXTURE_TEST_CASE(AnAtomicOnMemoryThatHasGoneIsARemoteAccessError, RcFixture) {
  target = Partly(h.b, 0);
  BOOST_TEST(SyndromeOf(Do(FetchAdd(1))) == static_cast<int>(Syndrome::kRemoteAccess));
}

BOOST_FIXTURE_TEST_CASE(AWriteToMemoryThatHasGoneIsARemoteAccessError, RcFixture) {
  target = Partly(h.b, 0);
  BOOST_TEST(SyndromeOf(Do(Write(8))) == static_cast<int>(Syndrome::kRemoteAccess));
}

BOOST_AUTO_TEST_CASE(ASourceThatHasGoneIsALocalProtectionErrorAndSoIsATargetOfARead) {
  for (const bool read : {false, true}) {
    RcFixture f;
    f.source = Partly(f.h.a, 0);
    const abi::Cqe cqe = f.Do(read ? f.Read(8) : f.Write(8));
    BOOST_TEST(SyndromeOf(cqe) == static_cast<int>(Syndrome::kLocalProtection));
  }
}

BOOST_FIXTURE_TEST_CASE(ASendIntoMemoryThatHasGoneIsARemoteOperationError, RcFixture) {
  target = Partly(h.b, 0);
  PostReceive(64);
  BOOST_TEST(SyndromeOf(Do(Send(8))) == static_cast<int>(Syndrome::kRemoteOperation));
  BOOST_TEST(SyndromeOf(h.PollReceives(pipe.remote).at(0)) ==
             static_cast<int>(Syndrome::kLocalProtection));
}

// Not "come back later", which a requester may be told for ever.
BOOST_AUTO_TEST_CASE(AReceiveQueueThatHasGoneEndsItsQp) {
  for (const bool ring : {true, false}) {
    RcFixture f;
    f.h.timers_run = false;
    f.PostReceive();
    ReceiveQueue& queue = f.h.Qp(f.pipe.remote).rq;
    ReceiveQueueConfig config = queue.Config();
    (ring ? config.ring : config.record) = kAbsent;
    queue.Prepare(config);
    BOOST_TEST(SyndromeOf(f.Do(f.Send(8))) == static_cast<int>(Syndrome::kRemoteOperation));
    BOOST_TEST((f.RemoteState() == State::kError));
    BOOST_TEST(f.h.b.nic.Count().rnr_naks_sent == 0u);
    BOOST_TEST(Has(f.h.b.nic, EventKind::kQpFatal, f.pipe.remote.qpn));
  }
}

BOOST_AUTO_TEST_CASE(ADatagramForAReceiveQueueThatHasGoneEndsItsQp) {
  RcFixture f({}, {.type = QpType::kUd}, {.type = QpType::kUd, .rq_depth = 16});
  ReceiveQueue& queue = f.h.Qp(f.pipe.remote).rq;
  ReceiveQueueConfig config = queue.Config();
  config.record = kAbsent;
  queue.Prepare(config);
  wire::Packet packet = Request(f, wire::Opcode::kUdSendOnly, 0, 8);
  packet.qkey = f.h.base.qkey;
  packet.payload.resize(8);
  f.h.b.nic.Receive(packet, f.h.a.address);
  BOOST_TEST((f.RemoteState() == State::kError));
  BOOST_TEST(Has(f.h.b.nic, EventKind::kQpFatal, f.pipe.remote.qpn));
}

BOOST_FIXTURE_TEST_CASE(AWqeThatCannotBeFetchedIsALocalQpOperationError, RcFixture) {
  h.Qp(pipe.local).config.sq = kAbsent;
  BOOST_TEST(SyndromeOf(Do(Write(8))) == static_cast<int>(Syndrome::kLocalQpOperation));
}

BOOST_FIXTURE_TEST_CASE(ASendRecordThatHasGoneEndsItsQp, RcFixture) {
  h.Store(pipe.local, Write(8));
  h.Qp(pipe.local).config.record = kAbsent;
  BOOST_TEST(!h.a.nic.RefreshFromRecord(h.Qp(pipe.local)));
  BOOST_TEST((LocalState() == State::kError));
  BOOST_TEST(Has(h.a.nic, EventKind::kQpFatal, pipe.local.qpn));
}

BOOST_FIXTURE_TEST_CASE(ACqWhoseRingHasGoneFailsAndItsQpWithIt, RcFixture) {
  CompletionQueue& cq = *h.a.nic.FindCq(pipe.local.cqn);
  cq.config.ring = kAbsent;
  h.Post(pipe.local, Write(8));
  h.Post(pipe.local, Write(8));
  BOOST_TEST(h.Run());
  BOOST_TEST((LocalState() == State::kError));
  BOOST_TEST(cq.failed);
  BOOST_TEST(h.a.nic.Count().cqes == 0u);
  BOOST_TEST(Has(h.a.nic, EventKind::kCqError, pipe.local.cqn));
  BOOST_TEST(h.a.nic.ResizeCq(pipe.local.cqn, pipe.local.cq, 1024) != "");
}

BOOST_FIXTURE_TEST_CASE(ACqThatCannotBeArmedFails, RcFixture) {
  h.a.nic.FindCq(pipe.local.cqn)->config.record = kAbsent;
  h.a.nic.RefreshArm(pipe.local.cqn);
  BOOST_TEST(Has(h.a.nic, EventKind::kCqError, pipe.local.cqn));
  h.a.nic.RefreshArm(pipe.local.cqn);
  BOOST_TEST(!h.a.nic.HasEvents());
}

}  // namespace ringpost::sim
