// QP contexts that are not at hand: what that costs a put, at either end of the wire.
#include <boost/test/unit_test.hpp>
#include <deque>
#include <vector>

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
  platform.requester_second_level_hit.ns = kSecondLevelNs;
  platform.responder_context = responder;
  platform.responder_second_level_hit.ns = kSecondLevelNs;
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

}  // namespace
}  // namespace ringpost
