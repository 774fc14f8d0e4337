// One trace, and what every model makes of it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "sim/engine/random.h"
#include "tests/sim/cache/replay.h"

namespace ringpost::sim {
namespace {

constexpr uint64_t kEntries = 128;
constexpr uint32_t kFirstQpn = 0x100;

// As a NIC sees its QPs: bursts of one QP, turns over all of them, a few busy ones among many.
const Accesses& Trace() {
  static const Accesses trace = [] {
    Rng random(TestSeed(), "trace");
    Accesses accesses;
    for (int i = 0; i < 3000; ++i) {
      const uint64_t qp = random.Below(2) == 0 ? random.Below(16) : random.Below(400);
      accesses.insert(accesses.end(), 1 + random.Below(4), kFirstQpn + static_cast<uint32_t>(qp));
    }
    for (const uint32_t qp : Cyclic(200, 10)) accesses.push_back(kFirstQpn + qp);
    return accesses;
  }();
  return trace;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryModelCountsEachAccessOnceAndNoneHitsMoreThanAnInfiniteCache) {
  const auto infinite = Make({.model = "infinite"});
  const Counts all = Replay(*infinite, Trace());
  BOOST_TEST(all.AllHits() == Trace().size());
  const uint64_t distinct = std::set<uint32_t>(Trace().begin(), Trace().end()).size();
  BOOST_TEST_REQUIRE(distinct > kEntries);
  for (const CacheSpec& spec : FiniteCaches(kEntries)) {
    const auto cache = Make(spec);
    BOOST_TEST_REQUIRE(cache != nullptr, NameOf(spec));
    const Counts counts = Replay(*cache, Trace());
    BOOST_TEST(counts.AllHits() + counts.misses == Trace().size(), NameOf(spec));
    BOOST_TEST(counts.AllHits() < all.AllHits(), NameOf(spec));
    BOOST_TEST(counts.AllHits() > 0u, NameOf(spec));
    BOOST_TEST(counts.misses >= distinct, NameOf(spec));
    // What came in is still there or was evicted.
    const uint64_t held = counts.misses - cache->Evictions();
    BOOST_TEST(held <= kEntries, NameOf(spec));
    BOOST_TEST(held > kEntries / 2, NameOf(spec));
    BOOST_TEST((counts.second_level_hits > 0) == (spec.model == "two_level"), NameOf(spec));
  }
}

// Which evicts what is used again last.
BOOST_AUTO_TEST_CASE(NoModelHitsMoreOftenThanOneThatKnowsTheFuture) {
  std::map<uint32_t, std::vector<size_t>> uses;  // of each key, the last one first
  for (size_t i = Trace().size(); i-- > 0;) uses[Trace()[i]].push_back(i);
  std::map<uint32_t, size_t> next_use;  // of keys held
  uint64_t hits = 0;
  for (const uint32_t key : Trace()) {
    uses[key].pop_back();
    hits += next_use.erase(key);
    if (next_use.size() == kEntries) {
      const auto later = [](const auto& a, const auto& b) { return a.second < b.second; };
      next_use.erase(std::max_element(next_use.begin(), next_use.end(), later));
    }
    next_use[key] = uses[key].empty() ? Trace().size() : uses[key].back();
  }
  for (const CacheSpec& spec : FiniteCaches(kEntries)) {
    BOOST_TEST(Replay(*Make(spec), Trace()).AllHits() <= hits, NameOf(spec));
  }
}

BOOST_AUTO_TEST_CASE(EqualSeedsGiveEqualAnswersToEveryAccess) {
  for (const CacheSpec& spec : FiniteCaches(kEntries)) {
    const auto one = Make(spec), other = Make(spec);
    for (const uint32_t key : Trace()) BOOST_TEST_REQUIRE(one->Access(key) == other->Access(key));
  }
}

BOOST_AUTO_TEST_CASE(SeedAndStreamChangeWhatRandomReplacementEvictsAndNothingElse) {
  const auto answers = [](const CacheSpec& spec, uint64_t seed, const char* stream) {
    const auto cache = MakeCache(spec, seed, stream);
    std::vector<Lookup> found;
    for (const uint32_t key : Trace()) found.push_back(cache->Access(key));
    return found;
  };
  for (const CacheSpec& spec : FiniteCaches(kEntries)) {
    const auto found = answers(spec, TestSeed(), "one");
    const bool draws = spec.model == "random";
    BOOST_TEST((answers(spec, TestSeed() + 1, "one") != found) == draws, NameOf(spec));
    BOOST_TEST((answers(spec, TestSeed(), "other") != found) == draws, NameOf(spec));
  }
}

}  // namespace ringpost::sim
