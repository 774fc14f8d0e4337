// How often each model hits, beside closed forms and calculations that know nothing of the models.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "sim/engine/random.h"
#include "tests/sim/cache/replay.h"

namespace ringpost::sim {
namespace {

double HitRate(const Counts& counts) {
  return static_cast<double>(counts.AllHits()) /
         static_cast<double>(counts.AllHits() + counts.misses);
}

// The root in [low, high] of a function that grows.
template <class F>
double RootOf(F function, double low, double high) {
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (function(middle) < 0 ? low : high) = middle;
  }
  return low;
}

// The hits to expect of random replacement under cyclic access from an empty cache, exactly. A
// state is the set of keys held, counted from the key that comes next; a miss of a full cache
// moves to each state that lacks one of its keys with equal chance.
double ExpectedHits(int keys, int entries, int accesses) {
  std::vector<double> chance(size_t{1} << keys);
  chance[0] = 1;
  double hits = 0;
  // The key used now comes last from now on.
  const auto next = [keys](size_t held) { return held >> 1 | size_t{1} << (keys - 1); };
  for (int i = 0; i < accesses; ++i) {
    std::vector<double> after(chance.size());
    for (size_t held = 0; held < chance.size(); ++held) {
      if (chance[held] == 0) continue;
      if ((held & 1) != 0) {
        hits += chance[held];
        after[next(held)] += chance[held];
      } else if (std::popcount(held) < entries) {
        after[next(held)] += chance[held];
      } else {
        for (int victim = 0; victim < keys; ++victim) {
          if ((held >> victim & 1) == 0) continue;
          after[next(held & ~(size_t{1} << victim))] += chance[held] / entries;
        }
      }
    }
    chance = after;
  }
  return hits;
}

// Keys of which the i-th is used in proportion to (i + 1)^-exponent.
class Zipf {
 public:
  Zipf(uint32_t keys, double exponent) {
    double sum = 0;
    for (uint32_t i = 0; i < keys; ++i) sum += std::pow(i + 1, -exponent);
    double below = 0;
    for (uint32_t i = 0; i < keys; ++i) {
      chances_.push_back(std::pow(i + 1, -exponent) / sum);
      up_to_.push_back(below += chances_.back());
    }
  }
  Accesses Draw(Rng& random, uint64_t count) const {
    Accesses accesses;
    for (uint64_t i = 0; i < count; ++i) {
      const double at = static_cast<double>(random.Next() >> 11) * 0x1p-53 * up_to_.back();
      const auto found = std::upper_bound(up_to_.begin(), up_to_.end() - 1, at);
      accesses.push_back(static_cast<uint32_t>(found - up_to_.begin()));
    }
    return accesses;
  }
  // A key of chance p is held with chance `held(p * t)`, where t is such that the keys held fill
  // the cache; the rate at which accesses then hit.
  template <class F>
  double HitRateOf(F held, double entries) const {
    const auto sum = [&](double t, bool weighted) {
      double total = 0;
      for (const double p : chances_) total += held(p * t) * (weighted ? p : 1);
      return total;
    };
    return sum(RootOf([&](double t) { return sum(t, false) - entries; }, 0, 1e9), true);
  }

 private:
  std::vector<double> chances_, up_to_;
};

// What a model makes of Zipf accesses once it is full, for several exponents and sizes.
template <class F>
void CheckZipf(const std::string& model, F held, double bound) {
  constexpr uint32_t kKeys = 2000;
  for (const double exponent : {0.6, 0.8, 1.1}) {
    const Zipf zipf(kKeys, exponent);
    for (const uint64_t entries : {50, 400}) {
      Rng random(TestSeed(), "zipf");
      const auto cache = Make({.model = model, .entries_count = entries});
      Replay(*cache, zipf.Draw(random, 20'000));
      const double rate = HitRate(Replay(*cache, zipf.Draw(random, 200'000)));
      const double expected = zipf.HitRateOf(held, static_cast<double>(entries));
      BOOST_TEST(std::abs(rate - expected) < bound, model << ", exponent " << exponent << ", "
                                                          << entries << " entries: hit rate "
                                                          << rate << ", expected " << expected);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(CyclicAccessToOneMoreThanFitsDefeatsLruAndFifoEntirely) {
  for (const char* model : {"lru", "fifo"}) {
    for (const uint32_t entries : {1u, 2u, 7u, 450u}) {
      for (const uint32_t keys : {entries + 1, 2 * entries, 9 * entries + 4}) {
        if (keys <= entries) continue;
        const auto cache = Make({.model = model, .entries_count = entries});
        const Counts counts = Replay(*cache, Cyclic(keys, 5));
        BOOST_TEST(counts == (Counts{.misses = 5 * keys}), model << " " << entries);
        BOOST_TEST(cache->Evictions() == 5 * keys - entries);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(AWorkingSetThatFitsAlwaysHitsAfterTheFirstPass) {
  std::vector<CacheSpec> specs;
  for (const char* model : {"lru", "fifo", "random"}) {
    specs.push_back({.model = model, .entries_count = 64});
  }
  specs.push_back(Sets(64, 8, "modulo"));  // neighbouring numbers fill its sets evenly
  specs.push_back(TwoLevels(16, 64, "inclusive"));
  specs.push_back(TwoLevels(16, 48, "exclusive"));
  for (const CacheSpec& spec : specs) {
    for (const uint32_t keys : {1u, 63u, 64u}) {
      const auto cache = Make(spec);
      Replay(*cache, Cyclic(keys, 1));
      const Counts counts = Replay(*cache, Cyclic(keys, 9));
      BOOST_TEST(counts.misses == 0u, NameOf(spec));
      BOOST_TEST(counts.AllHits() == 9 * keys, NameOf(spec));
      BOOST_TEST(cache->Evictions() == 0u, NameOf(spec));
    }
  }
}

BOOST_AUTO_TEST_CASE(ASecondLevelServesACyclicWorkingSetThatOverflowsTheFirstOne) {
  const Counts second_level_alone{.second_level_hits = 5 * 64};
  const auto inclusive = Make(TwoLevels(16, 64, "inclusive"));
  Replay(*inclusive, Cyclic(64, 1));
  BOOST_TEST(Replay(*inclusive, Cyclic(64, 5)) == second_level_alone);
  BOOST_TEST(Replay(*inclusive, Cyclic(80, 5)).second_level_hits <= 64u);

  const auto exclusive = Make(TwoLevels(16, 64, "exclusive"));
  Replay(*exclusive, Cyclic(80, 1));
  BOOST_TEST(Replay(*exclusive, Cyclic(80, 5)) == (Counts{.second_level_hits = 5 * 80}));
  const auto overflown = Make(TwoLevels(16, 64, "exclusive"));
  BOOST_TEST(Replay(*overflown, Cyclic(81, 5)) == (Counts{.misses = 5 * 81}));
}

// Where it would miss each time without.
BOOST_AUTO_TEST_CASE(PrefetchingNEntriesLeavesOneMissInNPlusOneOfCyclicAccess) {
  for (const char* model : {"lru", "fifo"}) {
    for (const uint32_t prefetched : {1u, 3u, 7u}) {
      const uint32_t keys = 15 * (prefetched + 1);
      const CacheSpec spec{
          .model = model, .entries_count = keys - 1, .prefetched_entries_count = prefetched};
      const auto cache = Make(spec);
      const Counts counts = Replay(*cache, Cyclic(keys, 6));
      BOOST_TEST(counts.misses == 6 * 15u, model << " prefetching " << prefetched);
      BOOST_TEST(counts.hits == 6 * 15u * prefetched);
      // All that came in is there or has gone.
      BOOST_TEST(cache->Evictions() == 6 * keys - (keys - 1));
    }
  }
}

BOOST_AUTO_TEST_CASE(PrefetchingHelpsNoAccessThatPassesOverWhatItBringsAlong) {
  const auto cache = Make({.model = "lru", .entries_count = 64, .prefetched_entries_count = 3});
  Accesses accesses;
  for (const uint32_t i : Cyclic(64, 4)) accesses.push_back(4 * i);
  BOOST_TEST(Replay(*cache, accesses).misses == accesses.size());
  // Without it they would all stay.
  const auto without = Make({.model = "lru", .entries_count = 64});
  BOOST_TEST(Replay(*without, accesses).misses == 64u);
}

BOOST_AUTO_TEST_CASE(WhatIsPrefetchedIsOfTheSameLineAndWrapsWithinQpNumbers) {
  const auto cache = Make({.model = "lru", .entries_count = 8, .prefetched_entries_count = 1});
  BOOST_TEST(cache->Access(0xffffff | 5 << 24) == Lookup::kMiss);
  BOOST_TEST(cache->Access(0 | 5 << 24) == Lookup::kHit);
  BOOST_TEST(cache->Access(0 | 6 << 24) == Lookup::kMiss);
}

BOOST_AUTO_TEST_CASE(RandomReplacementUnderCyclicAccessHitsAsOftenAsItsMarkovChain) {
  constexpr int kAccesses = 1000;
  constexpr uint64_t kRuns = 60;
  for (const auto& [keys, entries] : {std::pair{2, 1}, {3, 2}, {5, 3}, {7, 6}, {9, 4}}) {
    uint64_t hits = 0;
    for (uint64_t run = 0; run < kRuns; ++run) {
      const CacheSpec spec{.model = "random", .entries_count = static_cast<uint64_t>(entries)};
      const auto cache = MakeCache(spec, TestSeed(), "run " + std::to_string(run));
      for (int i = 0; i < kAccesses; ++i) {
        hits += cache->Access(static_cast<uint32_t>(i % keys)) == Lookup::kHit;
      }
    }
    const double rate = static_cast<double>(hits) / (kRuns * kAccesses);
    const double expected = ExpectedHits(keys, entries, kAccesses) / kAccesses;
    BOOST_TEST(std::abs(rate - expected) < 0.02,
               keys << " keys, " << entries << " entries: " << rate << ", expected " << expected);
  }
}

// Between two accesses to a key come `keys` - 1 others, of which (1 - h) miss, and each of these
// spares it with chance 1 - 1/entries.
BOOST_AUTO_TEST_CASE(RandomReplacementUnderCyclicAccessHasTheHitRateOfItsMeanField) {
  for (const auto& [keys, entries] : {std::pair{600u, 400u}, {800u, 400u}, {2000u, 400u}}) {
    const double others = keys - 1;
    const double spared = 1 - 1.0 / entries;
    // The root before the top of the curve; the other one, 1, is that of a cache that holds all.
    const double steepness = -others * std::log(spared);
    const double expected = RootOf([&](double h) { return h - std::pow(spared, others * (1 - h)); },
                                   0, 1 - std::log(steepness) / steepness);
    const auto cache = Make({.model = "random", .entries_count = entries});
    Replay(*cache, Cyclic(keys, 20));
    const double rate = HitRate(Replay(*cache, Cyclic(keys, 200)));
    BOOST_TEST(std::abs(rate - expected) < 0.01,
               keys << " keys, " << entries << " entries: " << rate << ", expected " << expected);
  }
}

BOOST_AUTO_TEST_CASE(ZipfAccessesHitAnLruCacheAsOftenAsChesApproximationSays) {
  CheckZipf(
      "lru", [](double x) { return 1 - std::exp(-x); }, 0.01);
}

BOOST_AUTO_TEST_CASE(ZipfAccessesHitFifoAndRandomEquallyOftenAndAsCalculated) {
  for (const char* model : {"fifo", "random"}) {
    CheckZipf(
        model, [](double x) { return x / (1 + x); }, 0.01);
  }
}

}  // namespace ringpost::sim
