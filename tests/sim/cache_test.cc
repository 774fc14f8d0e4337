// Which contexts stay on chip.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "sim/cache/context_cache.h"
#include "sim/engine/random.h"
#include "tests/seed.h"

namespace ringpost::sim {

BOOST_AUTO_TEST_CASE(AnInfiniteCacheNeverMissesAndNeverEvicts) {
  const auto cache = MakeCache("infinite", 0);
  for (uint32_t key = 0; key < 1000; ++key) BOOST_TEST(cache->Access(key));
  BOOST_TEST(cache->Evictions() == 0u);
}

BOOST_AUTO_TEST_CASE(AnLruCacheMissesTheFirstTimeAndHitsTheSecond) {
  const auto cache = MakeCache("lru", 2);
  BOOST_TEST(!cache->Access(1));
  BOOST_TEST(cache->Access(1));
  BOOST_TEST(cache->Evictions() == 0u);
}

BOOST_AUTO_TEST_CASE(AnLruCacheEvictsTheOneThatWasUsedLongestAgo) {
  const auto cache = MakeCache("lru", 2);
  cache->Access(1);
  cache->Access(2);
  cache->Access(1);
  BOOST_TEST(!cache->Access(3));
  BOOST_TEST(cache->Access(1));
  BOOST_TEST(!cache->Access(2));
  BOOST_TEST(cache->Evictions() == 2u);
}

BOOST_AUTO_TEST_CASE(AnLruCacheAgreesWithAListInOrderOfUse) {
  Rng random(TestSeed(), "lru");
  for (int round = 0; round < 50; ++round) {
    const uint64_t entries = 1 + random.Below(8);
    const auto cache = MakeCache("lru", entries);
    std::vector<uint32_t> order;
    uint64_t evictions = 0;
    for (int step = 0; step < 300; ++step) {
      const uint32_t key = static_cast<uint32_t>(random.Below(12));
      const auto found = std::find(order.begin(), order.end(), key);
      const bool hit = found != order.end();
      if (hit) order.erase(found);
      order.insert(order.begin(), key);
      if (order.size() > entries) {
        order.pop_back();
        ++evictions;
      }
      BOOST_REQUIRE_MESSAGE(cache->Access(key) == hit,
                            "seed " << TestSeed() << ", round " << round << ", step " << step);
    }
    BOOST_TEST(cache->Evictions() == evictions);
  }
}

BOOST_AUTO_TEST_CASE(AnUnknownModelOrAnLruCacheOfNothingIsRefused) {
  BOOST_TEST(MakeCache("clock", 4) == nullptr);
  BOOST_TEST(MakeCache("lru", 0) == nullptr);
}

}  // namespace ringpost::sim
