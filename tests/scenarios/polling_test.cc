// Waits: what they must not take for a completion, and what must end them.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tests/scenarios/scenario.h"

namespace ringpost {
namespace {

using enum sim::FaultKind;
using enum sim::FaultWhere;

}  // namespace

// O-03: a CQE that is read late shows an old counter, which looks like a step of almost 65,536.
// Here an advance counts only up to what was announced, so the wait goes on.
BOOST_AUTO_TEST_CASE(AStaleCqeDoesNotEndALaterQuiet) {
  constexpr uint64_t kDone = 70'000;
  FabricFixture f({.faults = {FaultAt(kCqe, kDuplicate, kDone - 4, 30 * kMicrosecond),
                              FaultAt(kResponder, kDelay, kDone, 200 * kMicrosecond)}});
  StartAt(f.fabric, 0, f.qps.first, kDone - 10);
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    for (uint64_t i = 0; i < 10; ++i) endpoint.PutInline(f.remote.Remote(i * 8), &i, 8);
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    BOOST_TEST(f.fabric.Read<uint64_t>(f.qps.first.completed.address) == kDone);
    for (uint64_t i = 10; i < 20; ++i) endpoint.PutInline(f.remote.Remote(i * 8), &i, 8);
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    // The stale entry came long before.
    BOOST_TEST(port.Now() > 200 * kMicrosecond);
    BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address + 19 * 8) == 19u);
    BOOST_TEST(f.fabric.Read<uint64_t>(f.qps.first.completed.address) == kDone + 10);
  });
  BOOST_TEST(run.ok, run.error);
}

// O-09: the first poll comes before the first completion and trusts what the memory holds. Here the
// entry reads invalid from the beginning, whatever was there: nothing is outstanding, and one put
// takes its time. O-17: a record that was left dirty does not move the first fetch either.
BOOST_AUTO_TEST_CASE(AQuietBeforeAnyCompletionTakesTheEmptyCqForEmpty) {
  for (const int fill : {0xff, 0x00, 0xa5}) {
    for (const uint32_t depth : {8u, 16u, 64u}) {
      const QpSpec spec{.depth_wqebbs = depth};
      FabricFixture f({.faults = {FaultAt(kResponder, kDelay, 0, 100 * kMicrosecond)}}, spec);
      // The queues of one NIC follow each other at equal distances: those of the next are known.
      const QpView& first = f.qps.first;
      const QpView second = f.fabric.ConnectPair(0, 1, spec).first;
      const std::vector<uint8_t> dirt(abi::kCqeBytes, static_cast<uint8_t>(fill));
      f.fabric.Poke(2 * second.cq - first.cq, dirt.data(), abi::kCqeBytes);
      f.fabric.Poke(2 * second.record - first.record, dirt.data(), abi::kRecordBytes);
      const QpView third = f.fabric.ConnectPair(0, 1, spec).first;
      BOOST_TEST_REQUIRE(third.cq == 2 * second.cq - first.cq);
      BOOST_TEST_REQUIRE(third.record == 2 * second.record - first.record);
      BOOST_TEST(f.fabric.Read<uint8_t>(third.cq + 63) == abi::kCqeInitialOpOwn);
      const FabricRun run = f.RunOne([&](SimPort& port) {
        const QpTable table{&third, 1, 0, 1, 0};
        TestEndpoint<> endpoint(port, table);
        BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
        BOOST_TEST(port.Now() < kMillisecond);
        const uint64_t word = 7;
        endpoint.PutInline(f.remote.Remote(0), &word, 8);
        BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
        BOOST_TEST(port.Now() > 100 * kMicrosecond);
      });
      BOOST_TEST(run.ok, run.error);
      BOOST_TEST(f.fabric.Counters(0).cqes == 1u);
      BOOST_TEST(f.fabric.Counters(0).wqes == 1u);
      BOOST_TEST(abi::Swap32(f.fabric.Read<uint32_t>(third.record + 4)) == 1u);
      BOOST_TEST(RingWasSound(f.fabric));
    }
  }
}

// O-10: many warps drain one collapsed CQ at once and mix up its indices. Here each looks on its
// own, and the shared index only ever rises: for puts, and for gets, which nobody reads too early.
BOOST_AUTO_TEST_CASE(ManyBlocksDrainOneCqAndEachGetsItsOwnWord) {
  constexpr uint32_t kBlock = 256;
  const uint32_t threads = kBlock * static_cast<uint32_t>(Sized(4, 1024));
  for (const bool gets : {false, true}) {
    FabricFixture f({.stack_bytes = 32 * 1024}, {.depth_wqebbs = 1024, .shared = true});
    std::vector<uint32_t> words(threads);
    for (uint32_t i = 0; i < threads; ++i) words[i] = i * 1'000'003 + 1;
    if (gets) f.fabric.Poke(f.remote.address, words.data(), threads * 4);
    uint64_t wrong = 0;
    f.fabric.Launch(0, {threads, kBlock, 1}, [&](SimPort& port) {
      TestEndpoint<OrderGpuFence, OrderedHandoff> endpoint(port, f.table);
      const uint32_t mine = words[port.ThreadIndex()];
      const uint64_t at = port.ThreadIndex() * 4;
      const Posted posted = gets ? endpoint.Get(f.local.Local(at, 4), f.remote.Remote(at))
                                 : endpoint.PutInline(f.remote.Remote(at), &mine, 4);
      wrong += posted.status.Ok() && endpoint.Quiet(kThisQp).Ok() ? 0 : 1;
      uint32_t found = mine;
      if (gets) port.LoadPayload(&found, f.local.address + at, 4);
      wrong += found == mine ? 0 : 1;
    });
    const FabricRun run = f.fabric.Run();
    BOOST_TEST(run.ok, run.error);
    BOOST_TEST(wrong == 0u);
    const std::vector<uint8_t> arrived = f.BytesAt(f.remote.address, threads * 4);
    BOOST_TEST(std::memcmp(arrived.data(), words.data(), threads * 4) == 0);
    BOOST_TEST(f.fabric.Read<uint64_t>(f.qps.first.completed.address) == threads);
    BOOST_TEST(f.fabric.ViolationCount() == 0u);
  }
}

// O-11: a quiet waits for what was announced when it looked, and another warp announces the
// caller's own WQE later. Here it waits for all that the caller has posted, however late CQEs are.
BOOST_AUTO_TEST_CASE(AQuietCoversTheCallersOwnGetOnASharedQp) {
  std::vector<sim::FaultRule> rules;
  for (const uint64_t us : {1, 10, 50}) {
    sim::FaultRule rule;
    rule.where = kCqe;
    rule.amount = sim::Duration{static_cast<int64_t>(us * kMicrosecond)};
    rule.probability = 0.1;
    rules.push_back(rule);
  }
  FabricFixture f({.faults = rules}, {.depth_wqebbs = 64, .batch = 4, .shared = true});
  const uint64_t rounds = Sized(300, 12'500);  // of each of 8 warps
  constexpr uint64_t kKnown = 0x123456789abcdef0;
  constexpr uint64_t kPoison = 0xdead;
  f.fabric.Poke(f.remote.address, &kKnown, 8);
  f.fabric.Launch(0, {8, 1, 1}, [&](SimPort& port) {
    TestEndpoint<OrderGpuFence, OrderedHandoff> endpoint(port, f.table);
    const uint64_t at = f.local.address + port.ThreadIndex() * 64;
    for (uint64_t round = 0; round < rounds; ++round) {
      port.StorePayload(at, &kPoison, 8);
      endpoint.Get(f.local.Local(port.ThreadIndex() * 64, 8), f.remote.Remote(0));
      BOOST_REQUIRE(endpoint.Quiet(kThisQp).Ok());
      uint64_t found = 0;
      port.LoadPayload(&found, at, 8);
      BOOST_REQUIRE_EQUAL(found, kKnown);
    }
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
}

// O-12: an error CQE is taken for "not yet", and all ranks spin for ever. Here it ends a wait with
// QPN, WQE and syndromes; later WQEs are flushed, and other QPs go on.
BOOST_AUTO_TEST_CASE(AnErrorCompletionEndsTheWaitAndLeavesOtherQpsAlone) {
  using enum abi::Syndrome;
  for (const abi::Syndrome syndrome : {kTransportRetryExceeded, kLocalQpOperation, kLocalProtection,
                                       kRemoteAccess, kRnrRetryExceeded}) {
    FabricFixture f;
    const std::vector<QpPair> qps = f.fabric.ConnectPairs(0, 1, 4, {.depth_wqebbs = 64});
    f.fabric.InjectError(qps[2].first, 0, 4, syndrome);
    const RegisteredMemory target = f.fabric.nic(1).Allocate(Placement::kGpu, 4 << 20).Value();
    f.fabric.Launch(0, {4, 1, 1}, [&](SimPort& port) {
      const uint32_t qp = port.ThreadIndex();
      const QpTable table{&qps[qp].first, 1, 0, 1, 0};
      TestEndpoint<> endpoint(port, table);
      Posted fifth;
      for (uint64_t i = 0; i < 20; ++i) {
        const RemoteSpan to = target.Remote((qp << 20) + 65536);
        const LocalSpan from = f.local.Local(0, 65536);
        const Posted put = i < 19 ? endpoint.Put(to, from)
                                  : endpoint.PutSignal(to, from, target.Remote(qp << 20), 1);
        if (i == 4) fifth = put;
      }
      const Completion done = endpoint.Quiet(kThisQp);
      if (qp == 2) {
        const bool known = done.syndrome == static_cast<uint8_t>(syndrome) ||
                           done.syndrome == static_cast<uint8_t>(kFlushed);
        BOOST_TEST((done.status == Status::kErrorCompletion));
        BOOST_TEST(known, int{done.syndrome});
        BOOST_TEST(done.qpn == qps[2].first.qpn);
        BOOST_TEST((endpoint.Wait(fifth).status == Status::kErrorCompletion));
      } else {
        BOOST_TEST(done.Ok());
      }
      BOOST_TEST(port.Now() < kSecond);
    });
    const FabricRun run = f.fabric.Run();
    BOOST_TEST(run.ok, run.error);
    for (uint64_t qp = 0; qp < 4; ++qp) {
      BOOST_TEST(f.fabric.Read<uint64_t>(target.address + (qp << 20)) == (qp == 2 ? 0u : 1u));
    }
    // The fifth put itself, 15 puts and the signal.
    BOOST_TEST(f.fabric.Counters(0).error_cqes == 17u);
  }
}

}  // namespace ringpost
