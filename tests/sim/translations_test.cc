// Translations that are not on chip: how many an access needs, and what they cost a put.
#include "sim/node/translations.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tests/sim/cache/replay.h"
#include "tests/sim/fabric_fixture.h"

namespace ringpost {
namespace {

constexpr int64_t kMissNs = 9000;
constexpr uint64_t kPage = 4096;
constexpr sim::Duration kMiss = sim::Duration::Ns(kMissNs);

sim::Translations::Cache TableOf(const sim::CacheSpec& spec, uint32_t first_key = 0) {
  const sim::ContextCosts costs{{}, kMiss, {}, {}, false};
  return {std::make_shared<sim::HeldContexts>(sim::Make(spec), spec, costs), first_key};
}

sim::CacheSpec Lru(uint64_t entries, uint64_t outstanding = 0) {
  return {.model = "lru", .entries_count = entries, .outstanding_misses_count = outstanding};
}

constexpr uint32_t kKey = 7 << 8;  // another variant of a key is the same entry

// How late each of eight puts is, which take turns at two targets and two sources.
std::vector<int64_t> Late(const sim::Platform& platform, uint64_t apart, bool from_memory) {
  const auto puts = [apart, from_memory](const sim::Platform& used) {
    Fabric fabric(used, FabricOptions{});
    const QpPair qp = fabric.ConnectPair(0, 1, {});
    // Two regions, or two places of one.
    const auto two = [&](uint32_t node) {
      std::vector<RegisteredMemory> made = {
          fabric.nic(node).Allocate(Placement::kGpu, 4 * kPage).Value()};
      made.push_back(apart == 0 ? fabric.nic(node).Allocate(Placement::kGpu, 64).Value() : made[0]);
      return made;
    };
    const auto target = two(1), source = two(0);
    std::vector<int64_t> took;
    fabric.Launch(0, {}, [&](SimPort& port) {
      TestEndpoint<> endpoint(port, QpTable{&qp.first, 1, 0, 1, 0});
      for (uint64_t i = 0; i < 8; ++i) {
        const uint64_t at = i % 2 * apart;
        const RemoteSpan to = target[i % 2].Remote(at);
        const uint64_t begun = port.Now();
        const auto posted = from_memory ? endpoint.Put(to, source[i % 2].Local(at, 8))
                                        : endpoint.PutInline(to, &i, 8);
        BOOST_TEST(endpoint.Wait(posted).Ok());
        took.push_back(static_cast<int64_t>(port.Now() - begun));
      }
    });
    const FabricRun run = fabric.Run();
    BOOST_TEST(run.ok, run.error);
    return took;
  };
  std::vector<int64_t> late = puts(platform);
  const std::vector<int64_t> usual = puts(PlatformIb());
  for (size_t i = 0; i < late.size(); ++i) late[i] -= usual[i];
  return late;
}

void ExpectLate(const std::vector<int64_t>& late, int64_t first_ns, int64_t later_ns) {
  constexpr int64_t kTurn = 200'000;  // of a poller's loop
  for (size_t i = 0; i < late.size(); ++i) {
    const int64_t expected = 1000 * (i < 2 ? first_ns : later_ns);
    BOOST_TEST(std::abs(late[i] - expected) <= kTurn, "put " << i << " is late by " << late[i]);
  }
}

sim::Platform WithTables(uint64_t keys, uint64_t pages) {
  sim::Platform platform = PlatformIb();
  platform.context_miss.ns = kMissNs;
  if (keys != 0) platform.mpt = Lru(keys);
  if (pages != 0) platform.mtt = Lru(pages);
  platform.mtt.page_bytes = kPage;
  return platform;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AnAccessNeedsItsKeyAndThenAllOfItsPagesAtOnce) {
  for (const uint64_t pages : {1, 2, 5}) {
    for (const uint64_t outstanding : {0, 1, 2}) {
      sim::Translations tables(TableOf(Lru(64)), TableOf(Lru(64, outstanding)), kPage);
      const uint64_t bytes = (pages - 1) * kPage + 1;
      const uint64_t turns = outstanding == 0 ? 1 : (pages + outstanding - 1) / outstanding;
      const int64_t expected = static_cast<int64_t>(1 + turns) * kMiss.ps;
      BOOST_TEST(tables.Find({}, kKey, 10 * kPage, bytes).ps == expected);
      BOOST_TEST(tables.Find({}, kKey | 3, 10 * kPage, bytes).ps == 0);
      BOOST_TEST(tables.MptMisses() == 1u);
      BOOST_TEST(tables.MttMisses() == pages);
      BOOST_TEST(tables.MttHits() == pages);
    }
  }
}

BOOST_AUTO_TEST_CASE(PagesAreCountedFromTheFirstByteToTheLast) {
  const auto pages = [](uint64_t address, uint64_t bytes) {
    sim::Translations tables({}, TableOf(Lru(64)), kPage);
    tables.Find({}, kKey, address, bytes);
    return tables.MttMisses();
  };
  BOOST_TEST(pages(0, 1) == 1u);
  BOOST_TEST(pages(0, kPage) == 1u);
  BOOST_TEST(pages(1, kPage) == 2u);
  BOOST_TEST(pages(kPage - 1, 2) == 2u);
  BOOST_TEST(pages(5, 0) == 1u);
}

BOOST_AUTO_TEST_CASE(KeysAndPagesOfOneCacheEvictEachOtherAndAreToldApart) {
  const sim::Translations::Cache keys = TableOf(Lru(2), sim::kMptKeys);
  sim::Translations both(keys, {keys.held, sim::kMttKeys}, kPage);
  both.Find({}, 7 << 8, 7 * kPage, 8);
  both.Find({}, 7 << 8, 7 * kPage, 8);
  BOOST_TEST(both.MptMisses() + both.MttMisses() == 2u);
  for (uint64_t page = 0; page < 6; ++page) both.Find({}, 7 << 8, page % 3 * kPage, 8);
  BOOST_TEST(both.MttMisses() == 1u + 6);  // one place is left for three pages
  BOOST_TEST(both.MptMisses() == 1u);      // which each access uses
}

BOOST_AUTO_TEST_CASE(AKeyThatIsNotOnChipDelaysWhatTheTargetDoes) {
  ExpectLate(Late(WithTables(1, 0), 0, false), kMissNs, kMissNs);
  ExpectLate(Late(WithTables(2, 0), 0, false), kMissNs, 0);
}

BOOST_AUTO_TEST_CASE(APageThatIsNotOnChipDelaysWhatTheTargetDoes) {
  ExpectLate(Late(WithTables(0, 1), kPage, false), kMissNs, kMissNs);
  ExpectLate(Late(WithTables(0, 2), kPage, false), kMissNs, 0);
  // Of a larger page both are one.
  sim::Platform platform = WithTables(0, 1);
  platform.mtt.page_bytes = 1 << 30;
  const std::vector<int64_t> late = Late(platform, kPage, false);
  BOOST_TEST(std::abs(late[1]) < 200'000);
}

BOOST_AUTO_TEST_CASE(TranslationsOfThePayloadDelayItsReadAsThoseOfTheTargetDoItsWrite) {
  ExpectLate(Late(WithTables(1, 0), 0, true), 2 * kMissNs, 2 * kMissNs);
  ExpectLate(Late(WithTables(2, 2), 0, true), 2 * 2 * kMissNs, 0);
}

}  // namespace ringpost
