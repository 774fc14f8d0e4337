// Banks, misses under way and contexts that are written back: how long contexts take to be at hand.
#include "sim/node/held_contexts.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "tests/sim/cache/replay.h"

namespace ringpost::sim {
namespace {

constexpr Duration kMiss = Duration::Ns(500);
constexpr Duration kBank = Duration::Ns(3);
constexpr Duration kWriteBack = Duration::Ns(70);

std::unique_ptr<HeldContexts> Held(const CacheSpec& spec, Duration write_back = {}) {
  const ContextCosts costs{Duration::Ns(40), kMiss, kBank, write_back, false};
  return std::make_unique<HeldContexts>(Make(spec), spec, costs);
}

int64_t WaitOf(HeldContexts& held, Time now, uint32_t key, uint32_t lines = 1) {
  return held.Find(now, key, lines).wait.ps;
}

CacheSpec Misses(uint64_t outstanding) {
  return {.model = "lru", .entries_count = 1000, .outstanding_misses_count = outstanding};
}

}  // namespace

BOOST_AUTO_TEST_CASE(SoManyMissesAtATimeTakeTurns) {
  for (const uint64_t outstanding : {1, 2, 3, 7}) {
    const auto held = Held(Misses(outstanding));
    for (uint32_t i = 0; i < 20; ++i) {
      const int64_t turn = 1 + i / static_cast<uint32_t>(outstanding);
      BOOST_TEST(WaitOf(*held, Time{1000}, i) == turn * kMiss.ps, outstanding << ", miss " << i);
      BOOST_TEST(WaitOf(*held, Time{1000}, i) == 0);  // it hits from now on
    }
  }
}

BOOST_AUTO_TEST_CASE(WithoutALimitMissesDoNotWaitForEachOther) {
  const auto held = Held(Misses(0));
  for (uint32_t i = 0; i < 20; ++i) BOOST_TEST(WaitOf(*held, Time{}, i) == kMiss.ps);
}

BOOST_AUTO_TEST_CASE(ALimitIsNotMetWhenMissesComeNoFasterThanItServesThem) {
  constexpr int64_t kOutstanding = 4;
  const auto held = Held(Misses(kOutstanding));
  for (uint32_t i = 0; i < 100; ++i) {
    const Time now{i * kMiss.ps / kOutstanding};
    BOOST_TEST(WaitOf(*held, now, i) == kMiss.ps);
  }
  // Twice as fast, each one waits half a place longer than the one before.
  const auto late = Held(Misses(kOutstanding));
  int64_t last = 0;
  for (uint32_t i = 0; i < 100; ++i) {
    last = WaitOf(*late, Time{i * kMiss.ps / (2 * kOutstanding)}, i);
  }
  // The 100th is the 25th of its place, the first of which began when it came, three others late.
  BOOST_TEST(last == 25 * kMiss.ps - (99 - 3) * kMiss.ps / (2 * kOutstanding));
}

BOOST_AUTO_TEST_CASE(LinesOfOneContextAreMissesOfTheirOwn) {
  BOOST_TEST(WaitOf(*Held(Misses(0)), Time{}, 5, 9) == kMiss.ps);
  BOOST_TEST(WaitOf(*Held(Misses(9)), Time{}, 5, 9) == kMiss.ps);
  BOOST_TEST(WaitOf(*Held(Misses(4)), Time{}, 5, 9) == 3 * kMiss.ps);
  BOOST_TEST(WaitOf(*Held(Misses(1)), Time{}, 5, 9) == 9 * kMiss.ps);
}

BOOST_AUTO_TEST_CASE(ABankServesOneLookUpAfterTheOther) {
  for (const char* hash : {"modulo", "mix"}) {
    CacheSpec spec = Sets(64, 4, hash);
    spec.banks_count = 4;
    const auto held = Held(spec);
    for (uint32_t key = 0; key < 8; ++key) held->Find(Time{}, key, 1);
    const Time now{kMiss.ps * 10};
    std::vector<int64_t> before(4);
    for (uint32_t key = 0; key < 8; ++key) {
      const uint64_t set = (hash == std::string("mix") ? Mix(key) : key) % 16;
      BOOST_TEST(WaitOf(*held, now, key) == ++before[set % 4] * kBank.ps, hash << " " << key);
    }
    // Free again.
    BOOST_TEST(WaitOf(*held, now + kBank * 8, 0) == kBank.ps);
  }
}

BOOST_AUTO_TEST_CASE(AMissBeginsWhenItsBankHasAnswered) {
  CacheSpec spec = Sets(64, 4, "modulo");
  spec.banks_count = 1;
  spec.outstanding_misses_count = 1;
  const auto held = Held(spec);
  BOOST_TEST(WaitOf(*held, Time{}, 0) == (kBank + kMiss).ps);
  BOOST_TEST(WaitOf(*held, Time{}, 1) == (kBank + kMiss * 2).ps);  // its bank was the sooner
  BOOST_TEST(WaitOf(*held, Time{}, 0) == 3 * kBank.ps);
}

BOOST_AUTO_TEST_CASE(AMissThatEvictsAlsoWritesBack) {
  const auto held = Held({.model = "lru", .entries_count = 3}, kWriteBack);
  for (uint32_t i = 0; i < 12; ++i) {
    const Duration expected = i < 3 ? kMiss : kMiss + kWriteBack;
    BOOST_TEST(WaitOf(*held, Time{}, i) == expected.ps, "miss " << i);
  }
  BOOST_TEST(WaitOf(*held, Time{}, 11) == 0);
  BOOST_TEST(held->Evictions() == 9u);
}

BOOST_AUTO_TEST_CASE(AHitOfTheSecondLevelCostsItsTimeWhetherOrNotMissesAreLimited) {
  for (const uint64_t outstanding : {0, 2}) {
    CacheSpec spec = TwoLevels(1, 4, "inclusive");
    spec.outstanding_misses_count = outstanding;
    const auto held = Held(spec);
    held->Find(Time{}, 1, 1);
    held->Find(Time{}, 2, 1);
    const HeldContexts::Found found = held->Find(Time{}, 1, 1);
    BOOST_TEST((found.where == Lookup::kSecondLevelHit));
    BOOST_TEST(found.wait.ps == Duration::Ns(40).ps);
  }
}

}  // namespace ringpost::sim
