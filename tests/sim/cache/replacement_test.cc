// Who has to go: each model access by access, beside a naive one with the time of every use.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>

#include "sim/engine/random.h"
#include "tests/sim/cache/replay.h"

namespace ringpost::sim {
namespace {

// Keys with the time of their last use, in sets of `ways`; the least of a full set has to go.
struct NaiveSets {
  uint64_t sets, ways;
  std::string hash;
  std::map<uint32_t, uint64_t> last_use = {};
  uint64_t now = 0;

  uint64_t SetOf(uint32_t key) const { return (hash == "mix" ? Mix(key) : key) % sets; }
  bool Holds(uint32_t key) const { return last_use.contains(key); }
  void Use(uint32_t key) { last_use[key] = ++now; }
  std::optional<uint32_t> MakeRoomFor(uint32_t key) {
    uint64_t held = 0;
    std::optional<uint32_t> oldest;
    for (const auto& [other, used] : last_use) {
      if (SetOf(other) != SetOf(key)) continue;
      ++held;
      if (!oldest || used < last_use[*oldest]) oldest = other;
    }
    if (held < ways) return {};
    last_use.erase(*oldest);
    return oldest;
  }
};

// Calls `round(random, number of the round)` for many small geometries.
template <class F>
void ForManyRounds(const char* stream, F round) {
  Rng random(TestSeed(), stream);
  for (int i = 0; i < 40; ++i) {
    BOOST_TEST_CONTEXT("round " << i) round(random);
  }
}

Accesses RandomAccesses(Rng& random, uint64_t keys, int count) {
  Accesses accesses;
  for (int i = 0; i < count; ++i) accesses.push_back(static_cast<uint32_t>(random.Below(keys)));
  return accesses;
}

void CheckAgainstNaiveSets(const CacheSpec& spec, NaiveSets naive, const Accesses& accesses) {
  const auto cache = Make(spec);
  BOOST_TEST_REQUIRE(cache != nullptr);
  uint64_t evictions = 0;
  for (size_t i = 0; i < accesses.size(); ++i) {
    const uint32_t key = accesses[i];
    const Lookup expected = naive.Holds(key) ? Lookup::kHit : Lookup::kMiss;
    if (!naive.Holds(key) && naive.MakeRoomFor(key)) ++evictions;
    naive.Use(key);
    BOOST_TEST_REQUIRE(cache->Access(key) == expected, "access " << i << " of key " << key);
  }
  BOOST_TEST(cache->Evictions() == evictions);
}

}  // namespace

BOOST_AUTO_TEST_CASE(AnInfiniteCacheNeverMissesAndNeverEvicts) {
  const auto cache = Make({.model = "infinite"});
  BOOST_TEST(Replay(*cache, Cyclic(1000, 2)) == (Counts{.hits = 2000}));
  BOOST_TEST(cache->Evictions() == 0u);
}

BOOST_AUTO_TEST_CASE(AnLruCacheAgreesWithTheTimeOfEveryUse) {
  ForManyRounds("lru", [](Rng& random) {
    const uint64_t entries = 1 + random.Below(8);
    CheckAgainstNaiveSets({.model = "lru", .entries_count = entries}, {1, entries, "modulo"},
                          RandomAccesses(random, 12, 300));
  });
}

BOOST_AUTO_TEST_CASE(EachSetOfASetAssociativeCacheIsAnLruCache) {
  for (const char* hash : {"modulo", "mix"}) {
    ForManyRounds(hash, [hash](Rng& random) {
      const uint64_t sets = 1 + random.Below(5);
      const uint64_t ways = 1 + random.Below(4);
      CheckAgainstNaiveSets(Sets(sets * ways, ways, hash), {sets, ways, hash},
                            RandomAccesses(random, 1 + 2 * sets * ways, 400));
    });
  }
}

BOOST_AUTO_TEST_CASE(ASetAssociativeCacheOfOneSetIsAnLruCache) {
  ForManyRounds("one set", [](Rng& random) {
    const uint64_t entries = 1 + random.Below(64);
    const Accesses accesses = RandomAccesses(random, 96, 1000);
    const auto lru = Make({.model = "lru", .entries_count = entries});
    const auto sets = Make(Sets(entries, entries, "mix"));
    for (const uint32_t key : accesses) BOOST_TEST_REQUIRE(sets->Access(key) == lru->Access(key));
    BOOST_TEST(sets->Evictions() == lru->Evictions());
  });
}

BOOST_AUTO_TEST_CASE(KeysOfOneSetEvictEachOtherWhileOtherSetsAreEmpty) {
  const auto cache = Make(Sets(64, 4, "modulo"));
  Accesses accesses;
  for (const uint32_t i : Cyclic(5, 10)) accesses.push_back(16 * i);
  BOOST_TEST(Replay(*cache, accesses) == (Counts{.misses = 50}));
  BOOST_TEST(cache->Evictions() == 46u);
  const auto mixed = Make(Sets(64, 4, "mix"));
  BOOST_TEST(Replay(*mixed, accesses).hits > 0u);
}

BOOST_AUTO_TEST_CASE(AFifoCacheEvictsWhatCameInFirstAlthoughItIsInUse) {
  ForManyRounds("fifo", [](Rng& random) {
    const uint64_t entries = 1 + random.Below(8);
    const auto cache = Make({.model = "fifo", .entries_count = entries});
    std::vector<uint32_t> arrivals;  // of keys that were not there; the last `entries` are held
    for (const uint32_t key : RandomAccesses(random, 12, 300)) {
      const auto oldest =
          arrivals.end() - static_cast<ptrdiff_t>(std::min<uint64_t>(entries, arrivals.size()));
      const bool held = std::find(oldest, arrivals.end(), key) != arrivals.end();
      if (!held) arrivals.push_back(key);
      BOOST_TEST_REQUIRE(cache->Access(key) == (held ? Lookup::kHit : Lookup::kMiss));
    }
    BOOST_TEST(cache->Evictions() == arrivals.size() - std::min(entries, arrivals.size()));
  });
}

BOOST_AUTO_TEST_CASE(AnInclusiveSecondLevelAgreesWithTheTimeOfEveryUse) {
  ForManyRounds("inclusive", [](Rng& random) {
    const uint64_t sets = 1 + random.Below(3);
    const uint64_t ways = 2 + random.Below(3);
    const uint64_t first_entries = 1 + random.Below(sets * ways - 1);
    const auto cache = Make(TwoLevels(first_entries, sets * ways, "inclusive", ways));
    BOOST_TEST_REQUIRE(cache != nullptr);
    NaiveSets first{1, first_entries, "modulo"}, second{sets, ways, "mix"};
    uint64_t evictions = 0;
    for (const uint32_t key : RandomAccesses(random, 1 + 2 * sets * ways, 400)) {
      Lookup expected = Lookup::kHit;
      if (!first.Holds(key)) {
        expected = second.Holds(key) ? Lookup::kSecondLevelHit : Lookup::kMiss;
        if (expected == Lookup::kMiss) {
          if (const auto evicted = second.MakeRoomFor(key)) {
            first.last_use.erase(*evicted);
            ++evictions;
          }
        }
        second.Use(key);
        first.MakeRoomFor(key);
      }
      first.Use(key);
      BOOST_TEST_REQUIRE(cache->Access(key) == expected);
    }
    BOOST_TEST(cache->Evictions() == evictions);
  });
}

BOOST_AUTO_TEST_CASE(AnInclusiveSecondLevelTakesAContextInUseAlongWhenItEvictsIt) {
  const auto first_of = [](const std::string& inclusion) {
    const auto cache = Make(TwoLevels(2, 3, inclusion));
    Replay(*cache, {1, 2, 1, 3, 1, 4});  // hits of 1 stay in the first level
    return cache->Access(1);
  };
  BOOST_TEST(first_of("inclusive") == Lookup::kMiss);
  BOOST_TEST(first_of("exclusive") == Lookup::kHit);
}

BOOST_AUTO_TEST_CASE(ExclusiveLevelsOfOneSetEachAreOneLruCacheOfBothTogether) {
  ForManyRounds("exclusive", [](Rng& random) {
    const uint64_t first = 1 + random.Below(6);
    const uint64_t second = first + 1 + random.Below(8);
    const Accesses accesses = RandomAccesses(random, 24, 600);
    const auto both = Make(TwoLevels(first, second, "exclusive"));
    const auto lru = Make({.model = "lru", .entries_count = first + second});
    const auto small = Make({.model = "lru", .entries_count = first});
    for (const uint32_t key : accesses) {
      const bool on_chip = lru->Access(key) == Lookup::kHit;
      const bool in_first = small->Access(key) == Lookup::kHit;
      const Lookup expected = in_first  ? Lookup::kHit
                              : on_chip ? Lookup::kSecondLevelHit
                                        : Lookup::kMiss;
      BOOST_TEST_REQUIRE(both->Access(key) == expected);
    }
    BOOST_TEST(both->Evictions() == lru->Evictions());
  });
}

BOOST_AUTO_TEST_CASE(WhatIsImpossibleAboutACacheIsNamedAndNoneIsMade) {
  const auto key_of = [](const CacheSpec& spec) {
    const std::optional<CacheMistake> mistake = MistakeIn(spec);
    BOOST_TEST((MakeCache(spec, 1, "test") == nullptr) == mistake.has_value());
    return mistake ? mistake->key : "";
  };
  BOOST_TEST(key_of({.model = "clock", .entries_count = 4}) == "model");
  for (const char* model : {"lru", "fifo", "random"}) {
    BOOST_TEST(key_of({.model = model}) == "entries_count");
    BOOST_TEST(key_of({.model = model, .entries_count = kMaxCacheEntries + 1}) == "entries_count");
    BOOST_TEST(key_of({.model = model, .entries_count = 1}) == "");
  }
  BOOST_TEST(key_of(Sets(0, 1, "mix")) == "entries_count");
  BOOST_TEST(key_of(Sets(8, 0, "mix")) == "ways_count");
  BOOST_TEST(key_of(Sets(8, 3, "mix")) == "ways_count");
  BOOST_TEST(key_of(Sets(8, 16, "mix")) == "ways_count");
  BOOST_TEST(key_of(Sets(8, 4, "")) == "hash");
  BOOST_TEST(key_of(Sets(8, 8, "modulo")) == "");
  BOOST_TEST(key_of(TwoLevels(0, 8, "inclusive")) == "first_level_entries_count");
  BOOST_TEST(key_of(TwoLevels(8, 8, "inclusive")) == "first_level_entries_count");
  BOOST_TEST(key_of(TwoLevels(4, 8, "inclusive", 3)) == "ways_count");
  BOOST_TEST(key_of(TwoLevels(4, 8, "neither")) == "inclusion");
  BOOST_TEST(key_of(TwoLevels(7, 8, "exclusive")) == "");
  BOOST_TEST(key_of({.model = "lru", .entries_count = 8, .prefetched_entries_count = 8}) ==
             "prefetched_entries_count");
  BOOST_TEST(key_of({.model = "lru", .entries_count = 8, .prefetched_entries_count = 7}) == "");
  BOOST_TEST(key_of({.model = "lru", .entries_count = 8, .blocks = "nic"}) == "blocks");
  BOOST_TEST(
      key_of(
          {.model = "lru", .entries_count = 8, .outstanding_misses_count = kMaxCacheEntries + 1}) ==
      "outstanding_misses_count");
  CacheSpec banked = Sets(64, 4, "mix");
  for (const uint64_t banks : {1, 2, 16}) {
    banked.banks_count = banks;
    BOOST_TEST(key_of(banked) == "");
  }
  for (const uint64_t banks : {3, 32, 64}) {
    banked.banks_count = banks;
    BOOST_TEST(key_of(banked) == "banks_count");
  }
  BOOST_TEST(key_of({.model = "replay"}) == "file");
}

}  // namespace ringpost::sim
