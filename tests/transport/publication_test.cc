// Who publishes and when: each publication policy over a single-threaded port.

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "tests/transport/recording_port.h"
#include "transport/endpoint.h"
#include "transport/publication/pairs.h"

namespace ringpost {
namespace {

constexpr RemoteSpan kTarget{0x1000, 1};
constexpr LocalSpan kSource{0x2000, 64, 2};

// Lets another thread reserve slots while this one builds.
class CrowdedPort : public RecordingPort<> {
 public:
  uint64_t reserved_by_others = 0;

  void StoreWqe(const QpView& qp, uint64_t index, const abi::Segment* segments, uint32_t count) {
    RecordingPort::StoreWqe(qp, index, segments, count);
    const uint64_t reserved = Get<uint64_t>(qp.reserved.address);
    Put(qp.reserved.address, reserved + reserved_by_others);
  }
};

template <class Publication, class Ordering = OrderGpuFence>
struct On {
  CrowdedPort port;
  QpTable table{&port.view, 1, 0, 1, 0};
  Endpoint<CrowdedPort, Publication, Ordering> endpoint{port, table};

  On() { port.view.shared = Publication::kSharesQp ? 1 : 0; }

  uint8_t FlagsOf(uint64_t index) {
    return static_cast<uint8_t>(port.SegmentAt(index, 0).word[2] >> 24);
  }
  uint64_t Ready() { return port.template Get<uint64_t>(port.view.ready.address); }
  std::size_t Rings() { return port.Of(EventKind::kDoorbell).size(); }
  uint64_t RungTo() {
    return abi::DecodeDoorbell(port.Of(EventKind::kDoorbell).back().value).producer;
  }
};

BOOST_AUTO_TEST_SUITE(PublicationTest)

BOOST_AUTO_TEST_CASE(EveryListedPairPostsAndCompletesAPut) {
  std::set<std::string> seen;
  ForEachPair([&]<class Publication, class Ordering>() {
    On<Publication, Ordering> f;
    BOOST_TEST(f.endpoint.Put(kTarget, kSource).status.Ok());
    f.port.on_relax = [&] { f.port.Complete(f.Rings() == 0 ? 0 : f.RungTo() - 1); };
    BOOST_TEST(f.endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
    seen.insert(std::string(Publication::kName) + "/" + Ordering::kName);
  });
  BOOST_TEST(seen.size() == std::size_t{Pairs::kCount});
}

BOOST_AUTO_TEST_CASE(PairIsFoundByItsNames) {
  std::string found;
  const auto visit = [&]<class Publication, class Ordering>() {
    found = std::string(Publication::kName) + "/" + Ordering::kName;
  };
  BOOST_TEST(VisitPair("locked", "gpu_release", visit));
  BOOST_TEST(found == "locked/gpu_release");
  BOOST_TEST(VisitPair("per_thread", "threadfence", visit));
  BOOST_TEST(found == "per_thread/threadfence");
}

BOOST_AUTO_TEST_CASE(PairThatIsNotListedIsNotFound) {
  int calls = 0;
  const auto visit = [&]<class Publication, class Ordering>() { ++calls; };
  BOOST_TEST(!VisitPair("locked", "threadfence", visit));
  BOOST_TEST(!VisitPair("per_thread", "", visit));
  BOOST_TEST(!VisitPair("nobody", "gpu_fence", visit));
  BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_CASE(PerThreadRingsForEachPut) {
  On<PerThread> f;
  for (uint64_t i = 1; i <= 3; ++i) {
    f.endpoint.Put(kTarget, kSource);
    BOOST_TEST(f.Rings() == i);
    BOOST_TEST(f.RungTo() == i);
  }
}

// The peer raises the word for what is staged here.
BOOST_AUTO_TEST_CASE(AWaitForASignalRingsWhatBatchedHasStaged) {
  On<Batched> f;
  f.port.view.batch = 4;
  const Ref<uint64_t> word{RecordingPort<>::kIndices + 40};
  f.port.on_relax = [&] { f.port.Put(word.address, uint64_t{f.Rings()}); };
  BOOST_TEST(f.endpoint.Put(kTarget, kSource).status.Ok());
  BOOST_TEST(f.Rings() == 0u);
  BOOST_TEST(f.endpoint.WaitSignal(word, 1).Ok());
  BOOST_TEST(f.Rings() == 1u);
  BOOST_TEST(f.RungTo() == 2u);  // the put, and a NOP that completes
  BOOST_TEST(f.endpoint.WaitSignal(word, 1).Ok());
  BOOST_TEST(f.Rings() == 1u);
}

// It may be another Endpoint's: this one takes no index of a queue that it does not post on.
BOOST_AUTO_TEST_CASE(AWaitForASignalAloneLeavesTheQueueToOthers) {
  On<Batched> f;
  const Ref<uint64_t> word{RecordingPort<>::kIndices + 40};
  f.port.Put(word.address, uint64_t{1});
  BOOST_TEST(f.endpoint.WaitSignal(word, 1).Ok());
  Endpoint<CrowdedPort, Batched, OrderGpuFence> other(f.port, f.table);
  BOOST_TEST(other.Put(kTarget, kSource).status.Ok());
}

BOOST_AUTO_TEST_CASE(BatchedRingsOnceForABatchAndSignalsItsLastWqe) {
  On<Batched> f;
  f.port.view.batch = 4;
  for (int i = 0; i < 3; ++i) f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.Rings() == 0u);
  f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.Rings() == 1u);
  BOOST_TEST(f.RungTo() == 4u);
  for (uint64_t i = 0; i < 3; ++i) BOOST_TEST(int{f.FlagsOf(i)} == int{abi::kCqeOnError});
  BOOST_TEST(int{f.FlagsOf(3)} == int{abi::kCqeAlways});
}

BOOST_AUTO_TEST_CASE(QuietEndsAnUnfinishedBatchWithASignalledNop) {
  On<Batched> f;
  f.port.view.batch = 4;
  f.endpoint.Put(kTarget, kSource);
  f.port.on_relax = [&] { f.port.Complete(1); };
  BOOST_TEST(f.endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
  BOOST_TEST(f.Rings() == 1u);
  BOOST_TEST(f.RungTo() == 2u);
  BOOST_TEST((abi::Swap32(f.port.SegmentAt(1, 0).word[0]) & 0xff) == 0u);
  BOOST_TEST(int{f.FlagsOf(1)} == int{abi::kCqeAlways});
}

BOOST_AUTO_TEST_CASE(BatchLargerThanAQuarterOfTheRingRingsEarlier) {
  On<Batched> f;
  f.port.view.batch = 1000;
  for (int i = 0; i < 4; ++i) f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.Rings() == 1u);
}

BOOST_AUTO_TEST_CASE(HandoffRingsWhenNobodyReservedBehind) {
  On<OrderedHandoff> f;
  f.port.view.batch = 8;
  f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.Rings() == 1u);
  BOOST_TEST(f.Ready() == 1u);
}

BOOST_AUTO_TEST_CASE(HandoffLeavesTheRingToWhoReservedBehind) {
  On<OrderedHandoff> f;
  f.port.view.batch = 8;
  f.port.reserved_by_others = 1;
  f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.Rings() == 0u);
  BOOST_TEST(f.Ready() == 1u);
}

BOOST_AUTO_TEST_CASE(HandoffRingsAtABatchBoundaryInAnyCase) {
  On<OrderedHandoff> f;
  f.port.view.batch = 2;
  f.port.StartAt(1);
  f.port.reserved_by_others = 1;
  f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.Rings() == 1u);
  BOOST_TEST(f.RungTo() == 2u);
}

BOOST_AUTO_TEST_CASE(HandoffRingsAtAQuarterOfTheRingWhereItsBatchIsLarger) {
  On<OrderedHandoff> f;
  f.port.view.batch = 16;  // of 16
  f.port.StartAt(3);
  f.port.reserved_by_others = 1;
  f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.Rings() == 1u);
}

BOOST_AUTO_TEST_CASE(LastWriterHandsOnBeforeItRings) {
  On<LastWriter> f;
  f.port.view.batch = 8;
  f.endpoint.Put(kTarget, kSource);
  std::size_t rang = 0;
  std::size_t handed_on = 0;
  for (std::size_t i = 0; i < f.port.events.size(); ++i) {
    const Event& event = f.port.events[i];
    if (event.kind == EventKind::kDoorbell) rang = i;
    if (event.kind == EventKind::kWord && event.index == f.port.view.ready.address) handed_on = i;
  }
  BOOST_TEST(handed_on < rang);
  BOOST_TEST(f.RungTo() == 1u);
  BOOST_TEST(f.port.Get<uint64_t>(f.port.view.ringing.address) == 0u);
}

BOOST_AUTO_TEST_CASE(LastWriterLeavesTheRingToWhoReservedBehindButNotAtABatchBoundary) {
  On<LastWriter> f;
  f.port.view.batch = 2;
  f.port.reserved_by_others = 1;
  f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.Rings() == 0u);
  BOOST_TEST(f.Ready() == 1u);
  On<LastWriter> boundary;
  boundary.port.view.batch = 2;
  boundary.port.reserved_by_others = 1;
  boundary.port.StartAt(1);
  boundary.endpoint.Put(kTarget, kSource);
  BOOST_TEST(boundary.RungTo() == 2u);
}

BOOST_AUTO_TEST_CASE(LastWriterRingsNotBehindAnOtherThatHasPublishedMore) {
  On<LastWriter> f;
  f.port.Put(f.port.view.published.address, uint64_t{3});
  BOOST_TEST(f.endpoint.Put(kTarget, kSource).status.Ok());
  BOOST_TEST(f.Rings() == 0u);
  BOOST_TEST(f.port.Get<uint64_t>(f.port.view.published.address) == 3u);
  On<LastWriter> waits;
  waits.port.Put(waits.port.view.ringing.address, uint64_t{1});
  waits.port.on_relax = [&] { waits.port.Put(waits.port.view.ringing.address, uint64_t{0}); };
  BOOST_TEST(waits.endpoint.Put(kTarget, kSource).status.Ok());
  BOOST_TEST(waits.Rings() == 1u);
}

BOOST_AUTO_TEST_CASE(ACpuDoorbellIsAnIndexThatOnlyTheHostThreadTurnsIntoARing) {
  On<PerThread> f;
  f.port.view.doorbell_mode = DoorbellMode::kCpu;
  f.port.view.producer = {RecordingPort<>::kIndices + 40};
  f.endpoint.Put(kTarget, kSource);
  f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.Rings() == 0u);
  BOOST_TEST(f.port.Of(EventKind::kRecord).empty());
  BOOST_TEST(f.port.Get<uint64_t>(f.port.view.producer.address) == 2u);
  uint64_t rung = 0;
  BOOST_TEST(RingFor(f.port, f.port.view, &rung));
  BOOST_TEST(!RingFor(f.port, f.port.view, &rung));
  BOOST_TEST(f.Rings() == 1u);
  BOOST_TEST(f.RungTo() == 2u);
  BOOST_TEST(f.port.Get<uint32_t>(f.port.view.record + 4) == abi::Swap32(2));
}

BOOST_AUTO_TEST_CASE(BlueFlameCopiesTheLastWqeToTheHalvesOfItsRegisterInTurn) {
  On<PerThread> f;
  f.port.memory.resize(f.port.memory.size() + 0x200);
  f.port.view.doorbell_mode = DoorbellMode::kBlueFlame;
  f.port.view.doorbell = f.port.memory.size() - 0x200;
  f.port.view.blueflame = {RecordingPort<>::kIndices + 40};
  for (uint64_t i = 0; i < 3; ++i) {
    f.endpoint.Put({0x1000 + i, 1}, kSource);
    const uint64_t half = f.port.view.doorbell + i % 2 * 0x100;
    for (uint32_t segment = 1; segment < 3; ++segment) {
      const abi::Segment copied = f.port.Get<abi::Segment>(half + segment * 16);
      const abi::Segment stored = f.port.SegmentAt(i, segment);
      BOOST_TEST(std::memcmp(&copied, &stored, sizeof(stored)) == 0);
    }
    BOOST_TEST(f.RungTo() == i + 1);
    BOOST_TEST(f.port.Get<uint64_t>(half) == f.port.Of(EventKind::kDoorbell).back().value);
    BOOST_TEST(f.port.Get<uint32_t>(f.port.view.record + 4) ==
               abi::Swap32(static_cast<uint32_t>(i + 1)));
  }
}

BOOST_AUTO_TEST_CASE(ARecordFreeQpHasNoRecord) {
  On<PerThread> f;
  f.port.view.doorbell_mode = DoorbellMode::kRecordFree;
  f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(f.port.Of(EventKind::kRecord).empty());
  BOOST_TEST(f.RungTo() == 1u);
}

template <class Publication>
void CheckWaitsForItsTurn() {
  On<Publication> f;
  f.port.Put(f.port.view.reserved.address, uint64_t{1});
  const Posted posted = f.endpoint.Put(kTarget, kSource);
  BOOST_TEST((posted.status.status == Status::kTimeout));
  BOOST_TEST(f.Rings() == 0u);

  On<Publication> helped;
  helped.port.Put(helped.port.view.reserved.address, uint64_t{1});
  helped.port.on_relax = [&] { helped.port.Put(helped.port.view.ready.address, uint64_t{1}); };
  BOOST_TEST(helped.endpoint.Put(kTarget, kSource).status.Ok());
  BOOST_TEST(helped.RungTo() == 2u);
}

BOOST_AUTO_TEST_CASE(SharedQpPublishesInTheOrderOfReservation) {
  CheckWaitsForItsTurn<OrderedHandoff>();
  CheckWaitsForItsTurn<Locked>();
  CheckWaitsForItsTurn<Cooperative>();
  CheckWaitsForItsTurn<LastWriter>();
}

template <class Publication>
void CheckLetsGoAfterTheDoorbell() {
  On<Publication> f;
  f.endpoint.Put(kTarget, kSource);
  std::size_t rang = 0;
  std::size_t let_go = 0;
  for (std::size_t i = 0; i < f.port.events.size(); ++i) {
    const Event& event = f.port.events[i];
    if (event.kind == EventKind::kDoorbell) rang = i;
    if (event.kind == EventKind::kWord && event.index == f.port.view.ready.address) let_go = i;
  }
  BOOST_TEST(rang < let_go);
}

BOOST_AUTO_TEST_CASE(TurnIsHandedOverAfterTheDoorbell) {
  CheckLetsGoAfterTheDoorbell<OrderedHandoff>();
  CheckLetsGoAfterTheDoorbell<Locked>();
  CheckLetsGoAfterTheDoorbell<Cooperative>();
}

BOOST_AUTO_TEST_CASE(CooperativeSignalsTheLastLane) {
  On<Cooperative> f;
  f.endpoint.Put(kTarget, kSource);
  BOOST_TEST(int{f.FlagsOf(0)} == int{abi::kCqeAlways});
  BOOST_TEST(f.RungTo() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost
