// QP contexts that are not at hand: what that costs a put, at either end of the wire.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "sim/cache/lookup_file.h"
#include "tests/sim/fabric_fixture.h"

namespace ringpost {
namespace {

constexpr uint64_t kQps = 3;
constexpr uint64_t kRounds = 4;
constexpr int64_t kMissNs = 9000;
constexpr int64_t kSecondLevelNs = 5000;

struct Row {
  std::vector<int64_t> put_ps;  // how long each put took, of all QPs in turn
  sim::Counters requester, responder;
};

sim::Platform WithCaches(const sim::CacheSpec& requester, const sim::CacheSpec& responder) {
  sim::Platform platform = PlatformIb();
  platform.context_miss.ns = kMissNs;
  platform.requester_context = requester;
  platform.requester_times.second_level_hit.ns = kSecondLevelNs;
  platform.responder_context = responder;
  platform.responder_times.second_level_hit.ns = kSecondLevelNs;
  return platform;
}

// One thread puts on each QP in turn, and waits for each put.
Row PutInTurn(const sim::Platform& platform) {
  Fabric fabric(platform, FabricOptions{});
  const std::vector<QpPair> qps = fabric.ConnectPairs(0, 1, kQps);
  const RegisteredMemory words = fabric.nic(1).Allocate(Placement::kGpu, 4096).Value();
  Row row;
  fabric.Launch(0, {}, [&](SimPort& port) {
    std::deque<TestEndpoint<>> endpoints;
    for (const QpPair& qp : qps) endpoints.emplace_back(port, QpTable{&qp.first, 1, 0, 1, 0});
    for (uint64_t i = 0; i < kQps * kRounds; ++i) {
      TestEndpoint<>& endpoint = endpoints[i % kQps];
      const uint64_t begun = port.Now();
      BOOST_TEST(endpoint.Wait(endpoint.PutInline(words.Remote(0), &i, 8)).Ok());
      row.put_ps.push_back(static_cast<int64_t>(port.Now() - begun));
    }
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
  row.requester = fabric.Counters(0);
  row.responder = fabric.Counters(1);
  return row;
}

// Puts of the first round are late by `first`, and those of later rounds by `later`.
void ExpectLate(const Row& row, int64_t first_ns, int64_t later_ns) {
  static const Row usual = PutInTurn(PlatformIb());
  BOOST_TEST_REQUIRE(row.put_ps.size() == usual.put_ps.size());
  // A poller meets the completion on its own beat: up to one turn of its loop off.
  constexpr int64_t kTurn = 200'000;
  for (uint64_t i = 0; i < row.put_ps.size(); ++i) {
    const int64_t moved = row.put_ps[i] - usual.put_ps[i];
    const int64_t expected = 1000 * (i < kQps ? first_ns : later_ns);
    BOOST_TEST(std::abs(moved - expected) <= kTurn, "put " << i << " moved by " << moved << " ps");
  }
}

const sim::CacheSpec kInfinite = {.model = "infinite"};
// Taken in turn, no context is still in the first level, and all are in the second.
const sim::CacheSpec kTwoLevel = {.model = "two_level",
                                  .entries_count = 4,
                                  .ways_count = 4,
                                  .hash = "modulo",
                                  .first_level_entries_count = 2,
                                  .inclusion = "inclusive"};
const sim::CacheSpec kTooSmall = {.model = "lru", .entries_count = kQps - 1};

BOOST_AUTO_TEST_CASE(AContextMissOfTheRequesterDelaysEachPut) {
  const Row row = PutInTurn(WithCaches(kTooSmall, kInfinite));
  ExpectLate(row, kMissNs, kMissNs);
  BOOST_TEST(row.requester.requester_context_misses == kQps * kRounds);
  BOOST_TEST(row.requester.requester_context_hits == 0u);
  BOOST_TEST(row.requester.requester_context_evictions == kQps * kRounds - (kQps - 1));
  BOOST_TEST(row.responder.responder_context_hits == kQps * kRounds);
  BOOST_TEST(row.responder.responder_context_evictions == 0u);
}

BOOST_AUTO_TEST_CASE(AContextMissOfTheResponderDelaysEachPut) {
  const Row row = PutInTurn(WithCaches(kInfinite, kTooSmall));
  ExpectLate(row, kMissNs, kMissNs);
  BOOST_TEST(row.responder.responder_context_misses == kQps * kRounds);
  BOOST_TEST(row.responder.responder_context_evictions == kQps * kRounds - (kQps - 1));
  BOOST_TEST(row.requester.requester_context_misses == 0u);
}

BOOST_AUTO_TEST_CASE(AHitOfTheSecondLevelCostsItsOwnTimeAtTheRequester) {
  const Row row = PutInTurn(WithCaches(kTwoLevel, kInfinite));
  ExpectLate(row, kMissNs, kSecondLevelNs);
  BOOST_TEST(row.requester.requester_context_misses == kQps);
  BOOST_TEST(row.requester.requester_context_second_level_hits == kQps * (kRounds - 1));
  BOOST_TEST(row.requester.requester_context_hits == kQps * (kRounds - 1));
}

BOOST_AUTO_TEST_CASE(AHitOfTheSecondLevelCostsItsOwnTimeAtTheResponder) {
  const Row row = PutInTurn(WithCaches(kInfinite, kTwoLevel));
  ExpectLate(row, kMissNs, kSecondLevelNs);
  BOOST_TEST(row.responder.responder_context_misses == kQps);
  BOOST_TEST(row.responder.responder_context_second_level_hits == kQps * (kRounds - 1));
  BOOST_TEST(row.responder.responder_context_hits == kQps * (kRounds - 1));
}

// Finds what is written here, of the QPs of one node in the order in which they were made.
sim::CacheSpec Recording(uint32_t node, const std::vector<sim::Lookup>& found) {
  auto recorded = std::make_shared<sim::RecordedLookups>();
  uint32_t qpn = sim::Rnic::kFirstQpn;
  for (const sim::Lookup one : found) recorded->nodes[node][qpn++] = {one};
  return {.model = "replay", .file = "a test", .unrecorded = "hit", .recorded = recorded};
}

// Two threads put on a QP each, the second one a little later. By how much each is late.
std::vector<int64_t> PutTogether(const sim::Platform& platform) {
  Fabric fabric(platform, FabricOptions{});
  const std::vector<QpPair> qps = fabric.ConnectPairs(0, 1, 2);
  const RegisteredMemory words = fabric.nic(1).Allocate(Placement::kGpu, 4096).Value();
  std::vector<int64_t> put_ps(2);
  fabric.Launch(0, {.threads = 2}, [&](SimPort& port) {
    const uint32_t i = port.ThreadIndex();
    TestEndpoint<> endpoint(port, QpTable{&qps[i].first, 1, 0, 1, 0});
    const uint64_t begun = port.Now() + i * 100'000;
    while (port.Now() < begun) port.Relax(begun);
    const uint64_t word = 1;
    BOOST_TEST(endpoint.Wait(endpoint.PutInline(words.Remote(8 * i), &word, 8)).Ok());
    put_ps[i] = static_cast<int64_t>(port.Now() - begun);
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
  return put_ps;
}

void ExpectBlocked(const sim::Platform& platform, bool second_too) {
  static const std::vector<int64_t> usual = PutTogether(PlatformIb());
  const std::vector<int64_t> put_ps = PutTogether(platform);
  constexpr int64_t kNear = 500'000;  // a turn of polling, and how much later the second one is
  for (size_t i = 0; i < 2; ++i) {
    const int64_t late = put_ps[i] - usual[i];
    const int64_t expected = i == 0 || second_too ? 1000 * kMissNs : 0;
    BOOST_TEST(std::abs(late - expected) <= kNear, "put " << i << " is late by " << late << " ps");
  }
}

const std::vector<sim::Lookup> kFirstMisses = {sim::Lookup::kMiss, sim::Lookup::kHit};

BOOST_AUTO_TEST_CASE(AMissOfTheRequesterHoldsUpItsQpOrWhereAskedAllOfThem) {
  sim::CacheSpec spec = Recording(0, kFirstMisses);
  ExpectBlocked(WithCaches(spec, kInfinite), false);
  spec.blocks = "qp";
  ExpectBlocked(WithCaches(spec, kInfinite), false);
  spec.blocks = "stage";
  ExpectBlocked(WithCaches(spec, kInfinite), true);
}

BOOST_AUTO_TEST_CASE(AMissOfTheResponderHoldsUpAllQpsOrWhereAskedItsOwn) {
  sim::CacheSpec spec = Recording(1, kFirstMisses);
  ExpectBlocked(WithCaches(kInfinite, spec), true);
  spec.blocks = "stage";
  ExpectBlocked(WithCaches(kInfinite, spec), true);
  spec.blocks = "qp";
  ExpectBlocked(WithCaches(kInfinite, spec), false);
}

// How long the last of many threads needs, which put on a QP each at the same time.
int64_t SlowestOf(const sim::Platform& platform, uint32_t threads) {
  Fabric fabric(platform, FabricOptions{});
  const std::vector<QpPair> qps = fabric.ConnectPairs(0, 1, threads);
  const RegisteredMemory words = fabric.nic(1).Allocate(Placement::kGpu, 4096).Value();
  int64_t slowest = 0;
  fabric.Launch(0, {.threads = threads}, [&](SimPort& port) {
    const uint32_t i = port.ThreadIndex();
    TestEndpoint<> endpoint(port, QpTable{&qps[i].first, 1, 0, 1, 0});
    const uint64_t word = 1;
    BOOST_TEST(endpoint.Wait(endpoint.PutInline(words.Remote(8 * i), &word, 8)).Ok());
    slowest = std::max(slowest, static_cast<int64_t>(port.Now()));
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
  return slowest;
}

// It has one miss at a time in any case.
BOOST_AUTO_TEST_CASE(AStageThatWaitsForEachContextIsNotSlowedByALimitOfOneMissOrOneBank) {
  constexpr uint32_t kThreads = 8;
  sim::CacheSpec spec = kTooSmall;
  spec.blocks = "stage";
  sim::CacheSpec limited = spec, banked = spec;
  limited.outstanding_misses_count = 1;
  banked.banks_count = 1;
  for (const bool requester : {true, false}) {
    const auto slowest = [&](const sim::CacheSpec& one) {
      return SlowestOf(requester ? WithCaches(one, kInfinite) : WithCaches(kInfinite, one),
                       kThreads);
    };
    const int64_t usual = slowest(spec);
    BOOST_TEST(usual > 1000 * kMissNs * kThreads);
    BOOST_TEST(slowest(limited) == usual);
    BOOST_TEST(slowest(banked) == usual);  // a bank that takes no time
  }
}

BOOST_AUTO_TEST_CASE(ARunThatAsksForMoreThanWasRecordedFails) {
  sim::CacheSpec spec = Recording(0, kFirstMisses);
  spec.unrecorded = "refuse";
  Fabric fabric(WithCaches(spec, kInfinite), FabricOptions{});
  const QpPair qp = fabric.ConnectPair(0, 1, {});
  const RegisteredMemory words = fabric.nic(1).Allocate(Placement::kGpu, 64).Value();
  fabric.Launch(0, {}, [&](SimPort& port) {
    TestEndpoint<> endpoint(port, QpTable{&qp.first, 1, 0, 1, 0});
    for (uint64_t i = 0; i < 2; ++i) {
      BOOST_TEST(endpoint.Wait(endpoint.PutInline(words.Remote(0), &i, 8)).Ok());
    }
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(!run.ok);
  BOOST_TEST(run.error.starts_with("a test has 1 look-ups of QP "), run.error);
}

}  // namespace
}  // namespace ringpost
