// RC at the byte contract: what each operation does, segmented, signalled or not.
#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;

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

BOOST_FIXTURE_TEST_CASE(AZeroLengthWriteTouchesNothingAndNeedsNoKey, RcFixture) {
  target.key = 0;
  const uint64_t writes = h.b.memory.writes;
  BOOST_TEST(!IsError(Do(Write(0))));
  BOOST_TEST(!IsError(Do(WqeBytes(Opcode::kRdmaWrite, kSignalled).Remote(0, 0).Inline(""))));
  BOOST_TEST(h.b.memory.writes == writes);
}

BOOST_FIXTURE_TEST_CASE(InlinePayloadOfEveryLengthWrapsAtTheRingsEnd, RcFixture) {
  for (uint32_t i = 0; i < 60; ++i) {
    std::string payload(1 + i * 15, 'a');
    for (size_t k = 0; k < payload.size(); ++k) payload[k] = static_cast<char>(k * 11 + i);
    const abi::Cqe cqe = Do(WqeBytes(Opcode::kRdmaWrite, kSignalled)
                                .Remote(target.address, target.key)
                                .Inline(payload));
    BOOST_TEST_REQUIRE(!IsError(cqe));
    BOOST_TEST(std::memcmp(target.Bytes(), payload.data(), payload.size()) == 0);
  }
  BOOST_TEST(pipe.local.producer > 2 * pipe.local.depth);
}

BOOST_FIXTURE_TEST_CASE(AListOfManySgesIsGatheredAndScatteredInOrder, RcFixture) {
  const auto list = [&](Opcode opcode) {
    WqeBytes wqe(opcode, kSignalled);
    wqe.Remote(target.address, target.key);
    for (uint32_t i = 0; i < 30; ++i) {
      wqe.Data(100 + i, source.key, source.address + 0x100 * i);
    }
    return wqe;
  };
  BOOST_TEST(!IsError(Do(list(Opcode::kRdmaWrite))));
  const std::vector<uint8_t> before(source.Bytes(), source.Bytes() + kBufferBytes);
  uint32_t at = 0;
  for (uint32_t i = 0; i < 30; at += 100 + i++) {
    BOOST_TEST(std::memcmp(target.Bytes() + at, before.data() + 0x100 * i, 100 + i) == 0);
  }
  std::fill_n(source.Bytes(), 30 * 0x100, uint8_t{0});
  BOOST_TEST(BytesOf(Do(list(Opcode::kRdmaRead))) == at);
  for (uint32_t i = 0; i < 30; ++i) {
    BOOST_TEST(std::memcmp(source.Bytes() + 0x100 * i, before.data() + 0x100 * i, 100 + i) == 0);
  }
}

BOOST_FIXTURE_TEST_CASE(OnlySignalledWqesCompleteAndOneAckSpeaksForAll, RcFixture) {
  for (int i = 0; i < 10; ++i) h.Store(pipe.local, Write(8, i == 9 ? kSignalled : uint8_t{0}));
  h.SetRecord(pipe.local);
  h.Ring(pipe.local);
  const auto cqes = Finish();
  BOOST_TEST_REQUIRE(cqes.size() == 1u);
  BOOST_TEST(CounterOf(cqes[0]) == 9u);
  BOOST_TEST(h.b.nic.Count().acks_sent == 1u);
}

BOOST_FIXTURE_TEST_CASE(AnUnsignalledLastWqeIsAcknowledgedAllTheSame, RcFixture) {
  h.Post(pipe.local, Write(8, 0));
  BOOST_TEST(Finish().empty());
  BOOST_TEST((h.Qp(pipe.local).requester.head == 1u));
}

BOOST_FIXTURE_TEST_CASE(AFencedWqeWaitsForReadsBeforeIt, RcFixture) {
  h.timers_run = false;
  bool hold = true;
  h.on_wire = [&](wire::Packet& packet) { return !hold || !wire::IsResponse(packet.opcode); };
  h.Post(pipe.local, Read(8));
  h.Post(pipe.local, Write(8, kSignalled | abi::kFenceReadsAtomics));
  h.Run();
  BOOST_TEST(h.a.nic.Count().packets_sent == 1u);
  hold = false;
  h.timers_run = true;
  wire::Packet packet;
  const Sent sent = h.a.nic.NextPacket(h.Qp(pipe.local), packet);
  BOOST_TEST((sent.status == SendStatus::kBlocked && sent.blocked == Blocked::kFence));
  BOOST_TEST(Finish().size() == 2u);
}

BOOST_AUTO_TEST_CASE(NoMoreReadsAreUnderWayThanThePeerTakes) {
  Harness h;
  h.base.max_rd_atomic = 2;
  Pipe pipe = h.Connect();
  const Buffer source = h.Register(h.a, 64), target = h.Register(h.b, 64);
  uint32_t open = 0, most = 0;
  h.on_wire = [&](wire::Packet& packet) {
    if (packet.opcode == wire::Opcode::kRcReadRequest) most = std::max(most, ++open);
    if (packet.opcode == wire::Opcode::kRcReadResponseOnly) --open;
    return true;
  };
  for (int i = 0; i < 10; ++i) {
    h.Store(pipe.local, WqeBytes(Opcode::kRdmaRead, kSignalled)
                            .Remote(target.address, target.key)
                            .Data(8, source.key, source.address));
  }
  h.SetRecord(pipe.local);
  h.Ring(pipe.local);
  BOOST_TEST(h.Run());
  BOOST_TEST(h.Poll(pipe.local).size() == 10u);
  BOOST_TEST(most == 2u);
}

BOOST_FIXTURE_TEST_CASE(AReadSeesWhatWasThereBeforeALaterWrite, RcFixture) {
  Fill(target, 5000, 99);
  const std::vector<uint8_t> before(target.Bytes(), target.Bytes() + 5000);
  const Buffer other = h.Register(h.a, 0x2000);
  h.Post(pipe.local, WqeBytes(Opcode::kRdmaRead, kSignalled)
                         .Remote(target.address, target.key)
                         .Data(5000, other.key, other.address));
  h.Post(pipe.local, Write(5000));
  QpContext& qp = h.Qp(pipe.local);
  while (h.a.nic.FetchNext(qp) == Fetched::kWqe) continue;
  // Both are executed before the first response leaves.
  wire::Packet packet;
  while (h.a.nic.NextPacket(qp, packet).status == SendStatus::kSent) {
    BOOST_TEST(h.b.nic.Receive(packet, h.a.address).accepted);
  }
  BOOST_TEST(Same(5000));
  BOOST_TEST(Finish().size() == 2u);
  BOOST_TEST(std::equal(before.begin(), before.end(), other.Bytes()));
}

BOOST_AUTO_TEST_CASE(WhatAsksForNoAnswerIsRepairedAllTheSame) {
  RcFixture f({}, {.waits = true});
  End other = f.h.MakeEnd(f.h.a, {});
  // Lost, unsignalled, and behind it a WAIT that blocks the queue.
  bool lose = true;
  f.h.on_wire = [&](wire::Packet&) { return !std::exchange(lose, false); };
  f.h.Store(f.pipe.local, f.Write(8, 0));
  f.h.Store(f.pipe.local, WqeBytes(Opcode::kWait, kSignalled).Wait(other.cqn, 0));
  f.h.SetRecord(f.pipe.local);
  f.h.Ring(f.pipe.local);
  BOOST_TEST(f.Finish().empty());
  BOOST_TEST(f.Same(8));
  BOOST_TEST((f.LocalState() == State::kReadyToSend));
  BOOST_TEST(f.h.Qp(f.pipe.local).requester.head == 1u);
  BOOST_TEST(f.h.a.nic.Count().timeouts == 1u);
}

BOOST_FIXTURE_TEST_CASE(NopAndDumpCompleteInOrderWithoutAPacket, RcFixture) {
  h.Store(pipe.local, Write(8));
  h.Store(pipe.local, WqeBytes(Opcode::kNop, kSignalled));
  h.Store(pipe.local, WqeBytes(Opcode::kDump, kSignalled).Data(8, source.key, source.address));
  h.SetRecord(pipe.local);
  h.Ring(pipe.local);
  const auto cqes = Finish();
  BOOST_TEST_REQUIRE(cqes.size() == 3u);
  for (uint16_t i = 0; i < 3; ++i) BOOST_TEST(CounterOf(cqes[i]) == i);
  BOOST_TEST(h.a.nic.Count().packets_sent == 1u);
}

BOOST_AUTO_TEST_CASE(AWaitHoldsItsQueueUntilTheOtherCqHasTheCqe) {
  RcFixture f({}, {.waits = true});
  End other = f.h.MakeEnd(f.h.a, {});
  End peer = f.h.MakeEnd(f.h.b, {});
  f.h.Ready(other, f.h.b, peer.qpn);
  f.h.Ready(peer, f.h.a, other.qpn);
  f.h.Post(f.pipe.local, WqeBytes(Opcode::kWait, kSignalled).Wait(other.cqn, 1));
  f.h.Post(f.pipe.local, f.Write(8));
  BOOST_TEST(f.Finish().empty());
  f.h.Post(other, WqeBytes(Opcode::kNop, kSignalled));
  BOOST_TEST(f.Finish().empty());
  f.h.Post(other, WqeBytes(Opcode::kNop, kSignalled));
  BOOST_TEST(f.Finish().size() == 2u);
  BOOST_TEST((f.h.a.nic.TakeEvents().back().kind == EventKind::kWaitOver));
}

BOOST_FIXTURE_TEST_CASE(WriteWithImmediateTakesAReceiveButNotItsBuffer, RcFixture) {
  h.PostReceive(pipe.remote, {});
  Do(WqeBytes(Opcode::kRdmaWriteImm, kSignalled)
         .Immediate(0xa1b2c3d4)
         .Remote(target.address, target.key)
         .Data(2000, source.key, source.address));
  BOOST_TEST(Same(2000));
  const auto received = h.PollReceives(pipe.remote);
  BOOST_TEST_REQUIRE(received.size() == 1u);
  BOOST_TEST((OpcodeOf(received[0]) == abi::CqeOpcode::kResponderWriteImm));
  BOOST_TEST(BytesOf(received[0]) == 2000u);
  BOOST_TEST(received[0].imm_inval_pkey == 0xa1b2c3d4u);
}

BOOST_FIXTURE_TEST_CASE(SendWithInvalidateTakesAKeyThatAllowsIt, RcFixture) {
  PostReceive();
  const Buffer window = h.Register(h.b, 64, kMayWriteRemotely | kMayInvalidateRemotely);
  uint64_t address = 0;
  BOOST_TEST(h.b.nic.Keys().Translate(window.key, h.b.pd, window.address, 8, 0, &address));
  Do(WqeBytes(Opcode::kSendInvalidate, kSignalled)
         .Immediate(abi::Swap32(window.key))
         .Data(8, source.key, source.address));
  BOOST_TEST(!h.b.nic.Keys().Translate(window.key, h.b.pd, window.address, 8, 0, &address));
  const auto received = h.PollReceives(pipe.remote);
  BOOST_TEST((OpcodeOf(received.at(0)) == abi::CqeOpcode::kResponderSendInvalidate));
  BOOST_TEST(abi::Swap32(received.at(0).imm_inval_pkey) == window.key);
}

BOOST_FIXTURE_TEST_CASE(PayloadAndWqeAreAnnouncedOnceAlsoWhenSentAgain, RcFixture) {
  h.a.memory.keep_uses = true;
  int sent = 0;
  h.on_wire = [&](wire::Packet&) { return ++sent != 1; };
  BOOST_TEST(!IsError(Do(Write(100))));
  const auto& uses = h.a.memory.uses;
  BOOST_TEST_REQUIRE(uses.size() == 2u);
  BOOST_TEST((uses[0].purpose == Purpose::kWqe && uses[0].size == 48));
  BOOST_TEST((uses[1].purpose == Purpose::kPayload && uses[1].size == 100));
  BOOST_TEST(h.a.nic.Count().packets_retransmitted == 1u);
}

BOOST_FIXTURE_TEST_CASE(MessagesWrapTheWqeCounterAfter65536Blocks, RcFixture) {
  for (uint32_t round = 0; round < 65536 / 32 + 2; ++round) {
    for (int i = 0; i < 32; ++i) h.Store(pipe.local, Write(8, i == 31 ? kSignalled : uint8_t{0}));
    h.SetRecord(pipe.local);
    h.Ring(pipe.local);
    const auto cqes = Finish();
    BOOST_TEST_REQUIRE(cqes.size() == 1u);
    BOOST_TEST_REQUIRE(CounterOf(cqes[0]) == ((round * 32 + 31) & 0xffff));
  }
}

}  // namespace ringpost::sim
