// Waiting: what moves `completed`, what Quiet waits for, and how errors and timeouts come back.

#include <boost/test/unit_test.hpp>

#include "tests/transport/recording_port.h"
#include "transport/endpoint.h"
#include "transport/publication/batched.h"
#include "transport/publication/locked.h"
#include "transport/publication/per_thread.h"

namespace ringpost {
namespace {

constexpr RemoteSpan kTarget{0x1000, 1};
constexpr LocalSpan kSource{0x2000, 64, 2};

struct Fixture {
  RecordingPort<> port;
  QpTable table{&port.view, 1, 0, 1, 0};
  Endpoint<RecordingPort<>, PerThread, OrderGpuFence> endpoint{port, table};

  uint64_t Completed() { return port.Get<uint64_t>(port.view.completed.address); }
};

BOOST_AUTO_TEST_SUITE(CompletionTest)

BOOST_FIXTURE_TEST_CASE(QuietReturnsWhenTheLastPutHasItsCqe, Fixture) {
  endpoint.Put(kTarget, kSource);
  endpoint.Put(kTarget, kSource);
  int polls = 0;
  port.on_relax = [&] { port.Complete(static_cast<uint16_t>(polls++)); };
  const Completion done = endpoint.Quiet(CompletionScope::kSelectedQp);
  BOOST_TEST(done.Ok());
  BOOST_TEST(done.wqe_index == 1u);
  BOOST_TEST(polls == 2);
  BOOST_TEST(Completed() == 2u);
}

BOOST_FIXTURE_TEST_CASE(QuietOfNothingReturnsAtOnce, Fixture) {
  BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
  BOOST_TEST(endpoint.Quiet(CompletionScope::kPeer).Ok());
  BOOST_TEST(endpoint.Quiet(CompletionScope::kAllQps).Ok());
}

BOOST_FIXTURE_TEST_CASE(QuietWithoutACqeTimesOut, Fixture) {
  endpoint.Put(kTarget, kSource);
  const Completion done = endpoint.Quiet(CompletionScope::kSelectedQp);
  BOOST_TEST((done.status == Status::kTimeout));
  BOOST_TEST(done.qpn == port.view.qpn);
  BOOST_TEST(done.wqe_index == 0u);
}

BOOST_FIXTURE_TEST_CASE(WaitForAnEarlierPutDoesNotWaitForALaterOne, Fixture) {
  const Posted first = endpoint.Put(kTarget, kSource);
  endpoint.Put(kTarget, kSource);
  port.Complete(0);
  BOOST_TEST(endpoint.Wait(first).Ok());
  BOOST_TEST(Completed() == 1u);
}

BOOST_FIXTURE_TEST_CASE(WaitFencesBeforeThePayloadIsUsed, Fixture) {
  const Posted posted = endpoint.Put(kTarget, kSource);
  port.Complete(0);
  endpoint.Wait(posted);
  const Event last = port.events.back();
  BOOST_TEST((last.kind == EventKind::kFence && last.order == Order::kAcquire));
}

BOOST_FIXTURE_TEST_CASE(StaleCqeDoesNotMoveCompleted, Fixture) {
  port.StartAt(70000);
  port.Complete(static_cast<uint16_t>(69996));
  endpoint.Put(kTarget, kSource);
  BOOST_TEST((endpoint.Quiet(CompletionScope::kSelectedQp).status == Status::kTimeout));
  BOOST_TEST(Completed() == 70000u);
  port.Complete(static_cast<uint16_t>(70000));
  port.turns = 1;
  BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
  BOOST_TEST(Completed() == 70001u);
}

BOOST_FIXTURE_TEST_CASE(CqeOfAWqeThatWasNotPublishedDoesNotMoveCompleted, Fixture) {
  endpoint.Put(kTarget, kSource);
  port.Complete(5);
  BOOST_TEST((endpoint.Quiet(CompletionScope::kSelectedQp).status == Status::kTimeout));
  BOOST_TEST(Completed() == 0u);
}

// A QP that other threads use too.
struct SharedFixture : RecordingPort<> {
  QpTable table{&view, 1, 0, 1, 0};
  Endpoint<RecordingPort<>, Locked, OrderGpuFence> endpoint{*this, table};

  SharedFixture() { view.shared = 1; }
};

BOOST_FIXTURE_TEST_CASE(WhatAnotherThreadHasSeenIsNotSeenHere, SharedFixture) {
  const Posted posted = endpoint.Put(kTarget, kSource);
  RecordingPort::Put(view.completed.address, posted.confirmed);
  BOOST_TEST((endpoint.Wait(posted).status == Status::kTimeout));
  Complete(0);
  BOOST_TEST(endpoint.Wait(posted).Ok());
}

BOOST_FIXTURE_TEST_CASE(StalePublishedLetsNoStaleCqePass, SharedFixture) {
  StartAt(20);
  const Posted posted = endpoint.Put(kTarget, kSource);
  RecordingPort::Put(view.published.address, uint64_t{18});
  Complete(16);
  BOOST_TEST((endpoint.Wait(posted).status == Status::kTimeout));
  BOOST_TEST(Get<uint64_t>(view.completed.address) == 20u);
}

// What a thread has kept of a shared QP's completions is long ago; the word is not.
BOOST_FIXTURE_TEST_CASE(AWaitLapsAfterTheLastPostReadsItsCounterAgainstTheWord, SharedFixture) {
  const Posted first = endpoint.Put(kTarget, kSource);
  BOOST_TEST(first.status.Ok());
  StartAt(70000);  // others went on
  Complete(static_cast<uint16_t>(69999));
  const Completion done = endpoint.Quiet(CompletionScope::kSelectedQp);
  BOOST_TEST(done.Ok());
  BOOST_TEST(Get<uint64_t>(view.completed.address) == 70000u);
}

BOOST_FIXTURE_TEST_CASE(AFullSharedRingLooksOnceForWhatOthersHaveSeen, SharedFixture) {
  for (int i = 0; i < 16; ++i) BOOST_TEST(endpoint.Put(kTarget, kSource).status.Ok());
  RecordingPort::Put(view.completed.address, uint64_t{10});
  for (int i = 0; i < 10; ++i) BOOST_TEST(endpoint.Put(kTarget, kSource).status.Ok());
  BOOST_TEST((endpoint.Put(kTarget, kSource).status.status == Status::kTimeout));
  BOOST_TEST(Of(EventKind::kWqe).size() == 26u);
}

// The rule of an exclusive QP.
BOOST_FIXTURE_TEST_CASE(ASecondEndpointIsRefusedWhileTheFirstHoldsTheIndices, Fixture) {
  Endpoint<RecordingPort<>, PerThread, OrderGpuFence> second(port, table);
  BOOST_TEST(endpoint.Put(kTarget, kSource).status.Ok());
  BOOST_TEST((second.Put(kTarget, kSource).status.status == Status::kInvalidArgument));
  BOOST_TEST(port.Of(EventKind::kWqe).size() == 1u);
  endpoint.GiveBack();
  BOOST_TEST(second.Put(kTarget, kSource).confirmed == 2u);
  BOOST_TEST((endpoint.Put(kTarget, kSource).status.status == Status::kInvalidArgument));
  second.GiveBack();
  BOOST_TEST(endpoint.Put(kTarget, kSource).confirmed == 3u);
}

BOOST_FIXTURE_TEST_CASE(EndpointsMadeForOneCallEachGoOnWhereTheLastOneEnded, Fixture) {
  const char payload[220] = {};
  for (uint64_t i = 0; i < 40; ++i) {
    Endpoint<RecordingPort<>, PerThread, OrderGpuFence> one(port, table);
    const uint32_t bytes = i % 3 == 0 ? 220 : 8;
    const Posted posted = one.PutInline(kTarget, payload, bytes);
    BOOST_REQUIRE(posted.status.Ok());
    port.Complete(static_cast<uint16_t>(posted.confirmed - 1));
    port.turns = 1;
    BOOST_TEST(one.Wait(posted).Ok());
  }
  BOOST_TEST(port.Get<uint64_t>(port.view.reserved.address) == 14u * 4 + 26);
}

BOOST_FIXTURE_TEST_CASE(EndpointsOfAQpWhoseIndicesAreInMemoryTakeTurns, Fixture) {
  port.view.indices = IndexHome::kMemory;
  Endpoint<RecordingPort<>, PerThread, OrderGpuFence> second(port, table);
  for (uint64_t i = 0; i < 8; ++i) {
    const Posted posted = (i % 2 == 0 ? endpoint : second).Put(kTarget, kSource);
    BOOST_TEST(posted.confirmed == i + 1);
    BOOST_TEST(port.Get<uint64_t>(port.view.reserved.address) == i + 1);
  }
  port.Complete(7);
  BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).wqe_index == 7u);
}

BOOST_FIXTURE_TEST_CASE(BatchesOfAQpWhoseIndicesAreInMemoryAreFilledInTurns, Fixture) {
  port.view.indices = IndexHome::kMemory;
  port.view.batch = 4;
  Endpoint<RecordingPort<>, Batched, OrderGpuFence> first(port, table);
  Endpoint<RecordingPort<>, Batched, OrderGpuFence> second(port, table);
  for (uint64_t i = 0; i < 8; ++i) {
    BOOST_TEST((i % 3 == 0 ? first : second).Put(kTarget, kSource).confirmed == i + 1);
    BOOST_TEST(port.Of(EventKind::kDoorbell).size() == (i + 1) / 4);
  }
  port.Complete(7);
  BOOST_TEST(second.Quiet(CompletionScope::kSelectedQp).Ok());
  BOOST_TEST(port.Of(EventKind::kDoorbell).size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(ABatchLeftOpenIsEndedByTheNextEndpoint, Fixture) {
  port.view.batch = 4;
  {
    Endpoint<RecordingPort<>, Batched, OrderGpuFence> first(port, table);
    for (int i = 0; i < 3; ++i) BOOST_TEST(first.Put(kTarget, kSource).status.Ok());
  }
  BOOST_TEST(port.Of(EventKind::kDoorbell).empty());
  Endpoint<RecordingPort<>, Batched, OrderGpuFence> next(port, table);
  BOOST_TEST(next.Put(kTarget, kSource).confirmed == 4u);
  BOOST_TEST(port.Of(EventKind::kDoorbell).size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(CompletionCounterWrapsAt65536, Fixture) {
  port.StartAt(65535);
  endpoint.Put(kTarget, kSource);
  endpoint.Put(kTarget, kSource);
  port.Complete(0);
  BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
  BOOST_TEST(Completed() == 65537u);
}

BOOST_FIXTURE_TEST_CASE(WqeOfSeveralBlocksIsDoneWhenItsFirstBlockIsNamed, Fixture) {
  const char payload[220] = {};
  const Posted posted = endpoint.PutInline(kTarget, payload, 220);
  BOOST_TEST(posted.confirmed == 1u);
  port.Complete(0);
  BOOST_TEST(endpoint.Wait(posted).Ok());
}

BOOST_FIXTURE_TEST_CASE(ErrorCqeComesBackWithQpnIndexAndSyndromes, Fixture) {
  port.StartAt(70000);
  endpoint.Put(kTarget, kSource);
  endpoint.Put(kTarget, kSource);
  port.Fail(static_cast<uint16_t>(70001), abi::Syndrome::kRemoteAccess, 0x88);
  const Completion done = endpoint.Quiet(CompletionScope::kSelectedQp);
  BOOST_TEST((done.status == Status::kErrorCompletion));
  BOOST_TEST(int{done.syndrome} == static_cast<int>(abi::Syndrome::kRemoteAccess));
  BOOST_TEST(int{done.vendor_syndrome} == 0x88);
  BOOST_TEST(done.qpn == port.view.qpn);
  BOOST_TEST(done.wqe_index == 70001u);
}

BOOST_FIXTURE_TEST_CASE(FullRingWaitsForSpace, Fixture) {
  for (int i = 0; i < 16; ++i) BOOST_TEST(endpoint.Put(kTarget, kSource).status.Ok());
  BOOST_TEST((endpoint.Put(kTarget, kSource).status.status == Status::kTimeout));
  BOOST_TEST(port.Of(EventKind::kWqe).size() == 16u);
  port.turns = 100;
  port.on_relax = [&] { port.Complete(0); };
  BOOST_TEST(endpoint.Put(kTarget, kSource).status.Ok());
  BOOST_TEST(port.Of(EventKind::kWqe).back().index == 16u);
}

// Two QPs that lead to the peer, and a third that leads elsewhere.
struct ThreeQps {
  static constexpr uint64_t kStride = 4096;
  RecordingPort<> port;
  QpView views[3];
  QpTable table{views, 3, 0, 2, 0};

  ThreeQps() {
    for (uint64_t i = 0; i < 3; ++i) {
      views[i] = port.view;
      views[i].qpn = static_cast<uint32_t>(i);
      for (uint64_t* word : {&views[i].sq, &views[i].record, &views[i].doorbell, &views[i].cq,
                             &views[i].reserved.address, &views[i].ready.address,
                             &views[i].published.address, &views[i].completed.address}) {
        *word += i * kStride;
      }
    }
    const std::vector<uint8_t> one = port.memory;
    port.memory.resize(3 * kStride);
    for (uint64_t i = 1; i < 3; ++i) {
      std::copy(one.begin(), one.end(), port.memory.begin() + i * kStride);
    }
  }

  auto On(uint32_t qp) {
    table.selected = qp;
    return Endpoint<RecordingPort<>, PerThread, OrderGpuFence>(port, table);
  }

  void Complete(uint32_t qp, uint16_t counter) {
    const uint64_t tail = uint64_t{abi::Swap16(counter)} << 32;
    port.Put(views[qp].cq + abi::kCqeTailOffset, tail);
  }
};

BOOST_FIXTURE_TEST_CASE(QuietOfTheSelectedQpIgnoresTheOthers, ThreeQps) {
  On(1).Put(kTarget, kSource);
  auto endpoint = On(0);
  endpoint.Put(kTarget, kSource);
  Complete(0, 0);
  BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
}

BOOST_FIXTURE_TEST_CASE(QuietOfThePeerWaitsForAllItsQps, ThreeQps) {
  On(1).Put(kTarget, kSource);
  On(2).Put(kTarget, kSource);
  auto endpoint = On(0);
  endpoint.Put(kTarget, kSource);
  Complete(0, 0);
  const Completion late = endpoint.Quiet(CompletionScope::kPeer);
  BOOST_TEST((late.status == Status::kTimeout));
  BOOST_TEST(late.qpn == 1u);
  port.turns = 100;
  Complete(1, 0);
  BOOST_TEST(endpoint.Quiet(CompletionScope::kPeer).Ok());
}

BOOST_FIXTURE_TEST_CASE(QuietOfThePeerWaitsForWhatALivingEndpointHasPosted, ThreeQps) {
  auto other = On(1);
  other.Put(kTarget, kSource);
  auto endpoint = On(0);
  BOOST_TEST((endpoint.Quiet(CompletionScope::kPeer).status == Status::kTimeout));
  port.turns = 100;
  Complete(1, 0);
  BOOST_TEST(endpoint.Quiet(CompletionScope::kPeer).Ok());
  BOOST_TEST(other.Put(kTarget, kSource).confirmed == 2u);
}

BOOST_FIXTURE_TEST_CASE(QuietOfAllQpsWaitsForTheOtherPeersToo, ThreeQps) {
  On(2).Put(kTarget, kSource);
  auto endpoint = On(0);
  const Completion late = endpoint.Quiet(CompletionScope::kAllQps);
  BOOST_TEST((late.status == Status::kTimeout));
  BOOST_TEST(late.qpn == 2u);
  Complete(2, 0);
  port.turns = 100;
  BOOST_TEST(endpoint.Quiet(CompletionScope::kAllQps).Ok());
}

BOOST_FIXTURE_TEST_CASE(FenceOverSeveralQpsWaits, ThreeQps) {
  On(1).Put(kTarget, kSource);
  auto endpoint = On(0);
  BOOST_TEST((endpoint.Fence().status == Status::kTimeout));
  Complete(1, 0);
  port.turns = 100;
  BOOST_TEST(endpoint.Fence().Ok());
}

BOOST_FIXTURE_TEST_CASE(WaitSignalReturnsOnceTheWordIsLargeEnough, Fixture) {
  const Ref<uint64_t> word{RecordingPort<>::kIndices + 40};
  uint64_t value = 0;
  port.on_relax = [&] { port.Put(word.address, ++value); };
  BOOST_TEST(endpoint.WaitSignal(word, 3).Ok());
  BOOST_TEST(value == 3u);
  BOOST_TEST((port.events.back().order == Order::kAcquire));
  BOOST_TEST((endpoint.WaitSignal(word, 1000).status == Status::kTimeout));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost
