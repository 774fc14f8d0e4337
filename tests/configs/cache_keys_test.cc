// The caches of a platform file: models, their keys and options, and what is refused.
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "configs/schema/platform_loader.h"
#include "sim/cost/platform.h"
#include "tests/configs/platform_text.h"
#include "tests/configs/scratch.h"

namespace ringpost::config {
namespace {

BOOST_AUTO_TEST_CASE(ACacheMayBeFinite) {
  const std::string path =
      WriteScratch("p.yaml", Changed("responder_context: {model: infinite}",
                                     "responder_context: {model: lru, entries_count: 1024}"));
  const sim::Platform platform = LoadPlatformFile(path);
  BOOST_TEST(platform.requester_context.model == "infinite");
  BOOST_TEST(platform.responder_context.model == "lru");
  BOOST_TEST(platform.responder_context.entries_count == 1024u);
}

// What is said about this cache of a platform.
std::string CacheError(const std::string& cache) {
  return ErrorOf(Changed("requester_context: {model: infinite}", "requester_context: " + cache));
}

BOOST_AUTO_TEST_CASE(EachCacheModelNeedsItsOwnKeysAndRefusesOthers) {
  const std::string at = "caches.requester_context";
  BOOST_TEST(CacheError("{model: lru}") ==
             at + ": has no entries_count; give {model: lru, entries_count: 1024}");
  BOOST_TEST(CacheError("{entries_count: 8}") == at + ": has no model; give {model: infinite}");
  BOOST_TEST(CacheError("{model: infinite, entries_count: 8}") ==
             at + ".entries_count: infinite has no such key; give {model: infinite}");
  BOOST_TEST(CacheError("{model: fifo, entries_count: 8, ways_count: 2}") ==
             at + ".ways_count: fifo has no such key; give {model: fifo, entries_count: 1024}");
  BOOST_TEST(CacheError("{model: set_associative, entries_count: 8, ways_count: 2}") ==
             at + ": has no hash; give {model: set_associative, entries_count: 1024, "
                  "ways_count: 8, hash: mix}");
  BOOST_TEST(CacheError("{model: clock, entries_count: 8}") ==
             at + ".model: 'clock' is not known; "
                  "use one of infinite, lru, fifo, random, set_associative, two_level, replay");
}

BOOST_AUTO_TEST_CASE(AnImpossibleSizeOfACacheIsRefusedAtItsKey) {
  const std::string at = "caches.requester_context.";
  const auto sets = [](const std::string& entries, const std::string& ways) {
    return CacheError("{model: set_associative, hash: mix, entries_count: " + entries +
                      ", ways_count: " + ways + "}");
  };
  BOOST_TEST(CacheError("{model: random, entries_count: 0}") ==
             at + "entries_count: is zero; give 1 to 16777216");
  BOOST_TEST(CacheError("{model: random, entries_count: 16777217}") ==
             at + "entries_count: 16777217 is more than there are QP numbers; give 1 to 16777216");
  BOOST_TEST(CacheError("{model: random, entries_count: 1k}") ==
             at + "entries_count: '1k' is not a count; give {model: random, entries_count: 1024}");
  BOOST_TEST(sets("1024", "3") ==
             at + "ways_count: 3 ways do not divide 1024 entries into sets of equal size; "
                  "give a divisor of entries_count");
  BOOST_TEST(sets("1024", "0") == at + "ways_count: is zero; give 1 to 16777216");
  BOOST_TEST(CacheError("{model: set_associative, hash: crc, entries_count: 8, ways_count: 2}") ==
             at + "hash: 'crc' is not known; use modulo or mix");
}

BOOST_AUTO_TEST_CASE(ASecondLevelSaysWhatAHitCostsAndWhereThatNumberComesFrom) {
  const std::string at = "caches.requester_context.";
  const std::string price = "second_level_hit: {value: 120 ns, provenance: assumed, source: a}";
  const auto cache = [](const std::string& first, const std::string& inclusion,
                        const std::string& hit) {
    return "{model: two_level, first_level_entries_count: " + first +
           ", entries_count: 64, ways_count: 4, hash: modulo, inclusion: " + inclusion + ", " +
           hit + "}";
  };
  const sim::Platform platform = LoadPlatformFile(
      WriteScratch("p.yaml", Changed("requester_context: {model: infinite}",
                                     "requester_context: " + cache("8", "exclusive", price))));
  BOOST_TEST(platform.requester_context.first_level_entries_count == 8u);
  BOOST_TEST(platform.requester_context.inclusion == "exclusive");
  BOOST_TEST(platform.requester_context.hash == "modulo");
  BOOST_TEST(platform.requester_times.second_level_hit.ns == 120.0);
  BOOST_TEST(ParametersOf({platform}, sim::Provenance::kAssumed)
                 .contains("caches.requester_context.second_level_hit: 0 cycles 120 ns"));
  BOOST_TEST(CacheError(cache("64", "exclusive", price)) ==
             at + "first_level_entries_count: 64 entries are no less than the 64 of the second "
                  "level; give less than entries_count");
  BOOST_TEST(CacheError(cache("8", "both", price)) ==
             at + "inclusion: 'both' is not known; use inclusive or exclusive");
  BOOST_TEST(CacheError(cache("8", "inclusive", "second_level_hit: 120 ns")) ==
             at + "second_level_hit: is not a map; " + kTimeForm);
  BOOST_TEST(CacheError(cache("8", "inclusive", "second_level_hit: {value: 120 ns, source: a}")) ==
             at + "second_level_hit: has no provenance; " + kTimeForm);
}

BOOST_AUTO_TEST_CASE(ACacheMayBeGivenInBytes) {
  const auto text_of = [](const std::string& size) {
    return CanonicalText(LoadPlatformFile(
        WriteScratch("p.yaml", Changed("requester_context: {model: infinite}",
                                       "requester_context: {model: lru, " + size + "}"))));
  };
  BOOST_TEST(text_of("capacity: 1 MiB, entry_size: 256 B") == text_of("entries_count: 4096"));
  BOOST_TEST(text_of("capacity: 1023 B, entry_size: 256 B") == text_of("entries_count: 3"));
  const std::string at = "caches.requester_context";
  const std::string form = "give {model: lru, entries_count: 1024}";
  BOOST_TEST(CacheError("{model: lru, capacity: 1 MiB}") ==
             at + ".capacity: needs entry_size beside it; " + form);
  BOOST_TEST(CacheError("{model: lru, entry_size: 1 B}") ==
             at + ".entry_size: needs capacity beside it; " + form);
  BOOST_TEST(CacheError("{model: lru, capacity: 1 B, entry_size: 1 B, entries_count: 1}") ==
             at + ".entries_count: stands beside a capacity, which says the same; "
                  "leave out one of the two");
  BOOST_TEST(CacheError("{model: lru, capacity: 1 B, entry_size: 2 B}") ==
             at + ".entry_size: is more than the capacity; give at most that");
  BOOST_TEST(CacheError("{model: lru, capacity: 1 GiB, entry_size: 1 B}") ==
             at + ".capacity: 1073741824 is more than there are QP numbers; give 1 to 16777216");
  BOOST_TEST(CacheError("{model: lru, capacity: 64, entry_size: 2 B}") ==
             at + ".capacity: '64' has no unit; give a size in B, KiB, MiB or GiB, such as 8 B");
}

BOOST_AUTO_TEST_CASE(OptionsOfACacheAreReadAndEnterTheHash) {
  const std::string sets = "{model: set_associative, entries_count: 64, ways_count: 4, hash: mix";
  const std::string time = ": {value: 7 ns, provenance: assumed, source: a test}";
  const auto load = [&sets](const std::string& more) {
    return LoadPlatformFile(
        WriteScratch("p.yaml", Changed("requester_context: {model: infinite}",
                                       "requester_context: " + sets + more + "}")));
  };
  const std::string plain = CanonicalText(load(""));
  std::set<std::string> texts = {plain};
  for (const std::string more :
       {", prefetched_entries_count: 3", ", outstanding_misses_count: 8", ", blocks: stage",
        ", blocks: qp", ", banks_count: 4, bank_service"}) {
    const bool banked = more.ends_with("bank_service");
    texts.insert(CanonicalText(load(banked ? more + time : more)));
  }
  texts.insert(CanonicalText(load(", write_back" + time)));
  BOOST_TEST(texts.size() == 7u);
  const sim::Platform platform = load(", banks_count: 4, bank_service" + time + ", write_back" +
                                      time + ", outstanding_misses_count: 8, blocks: stage");
  BOOST_TEST(platform.requester_context.banks_count == 4u);
  BOOST_TEST(platform.requester_context.outstanding_misses_count == 8u);
  BOOST_TEST(platform.requester_times.bank_service.ns == 7.0);
  BOOST_TEST(ParametersOf({platform}, sim::Provenance::kAssumed)
                 .contains("caches.requester_context.write_back: 0 cycles 7 ns"));
}

BOOST_AUTO_TEST_CASE(AnOptionThatCannotBeIsRefusedAtItsKey) {
  const std::string at = "caches.requester_context.";
  const auto sets = [](const std::string& more) {
    return CacheError("{model: set_associative, entries_count: 64, ways_count: 4, hash: mix, " +
                      more + "}");
  };
  const std::string service = ", bank_service: {value: 1 ns, provenance: assumed, source: a}";
  BOOST_TEST(sets("banks_count: 4") ==
             at + "banks_count: needs bank_service beside it; give both, or leave out banks_count");
  BOOST_TEST(sets("banks_count: 3" + service) ==
             at + "banks_count: 3 banks do not divide 16 sets evenly; "
                  "give a divisor of entries_count / ways_count");
  BOOST_TEST(sets("banks_count: 0" + service) ==
             at + "banks_count: is zero; give 1 or more, or leave it out");
  BOOST_TEST(sets("outstanding_misses_count: 0") ==
             at + "outstanding_misses_count: is zero; give 1 or more, or leave it out");
  BOOST_TEST(sets("prefetched_entries_count: 64") ==
             at + "prefetched_entries_count: 64 entries beside the one that missed do not fit 64; "
                  "give less than entries_count");
  BOOST_TEST(sets("blocks: nic") == at + "blocks: 'nic' is not known; use qp or stage");
  BOOST_TEST(CacheError("{model: lru, entries_count: 8, banks_count: 2}") ==
             at + "banks_count: lru has no such key; give {model: lru, entries_count: 1024}");
  BOOST_TEST(OverH100("caches: {context: {model: lru, entries_count: 8, blocks: qp}}\n") ==
             "caches.context.blocks: is of NICs without a shared engine, which fetches contexts "
             "ahead; leave it out; shared_engine.contexts_ahead says how many");
}

// What is said about caches beside those of contexts, in a platform over P-IB or P-H100.
std::string TableError(const std::string& text, const std::string& base = "p_ib") {
  return ErrorOf("base: " + base + "\ncaches: {" + text + "}\n");
}

BOOST_AUTO_TEST_CASE(TranslationsHaveCachesOfTheirOwnOrAreInAnotherOne) {
  for (const std::string right :
       {"mpt: {model: lru, entries_count: 8}", "mtt: {model: infinite, page_size: 4 KiB}",
        "mpt: {shares: responder_context}, mtt: {shares: mpt, page_size: 2 MiB}",
        "mpt: {model: lru, entries_count: 8}, mtt: {shares: mpt, page_size: 1 GiB}"}) {
    BOOST_TEST(TableError(right) == "", right);
  }
  BOOST_TEST(TableError("mpt: {shares: context}, mtt: {shares: context, page_size: 2 MiB}",
                        "p_h100") == "");
  const auto text_of = [](const std::string& caches) {
    return CanonicalText(
        LoadPlatformFile(WriteScratch("p.yaml", "base: p_ib\ncaches: {" + caches + "}\n")));
  };
  const std::string plain = CanonicalText(LoadPlatform("p_ib"));
  BOOST_TEST(text_of("mpt: {model: infinite}") == plain);
  const std::set<std::string> texts = {
      plain, text_of("mpt: {model: lru, entries_count: 8}"),
      text_of("mpt: {shares: requester_context}"),
      text_of("mtt: {model: lru, entries_count: 8, page_size: 4 KiB}"),
      text_of("mtt: {model: lru, entries_count: 8, page_size: 8 KiB}")};
  BOOST_TEST(texts.size() == 5u);
}

BOOST_AUTO_TEST_CASE(TranslationsThatCannotBeAreRefusedAtTheirKey) {
  const std::string other = "; name a cache that it has, or give a model";
  BOOST_TEST(TableError("mpt: {shares: context}") ==
             "caches.mpt.shares: this platform has no context" + other);
  BOOST_TEST(TableError("mpt: {shares: requester_context}", "p_h100") ==
             "caches.mpt.shares: this platform has no requester_context" + other);
  BOOST_TEST(TableError("mtt: {shares: mpt, page_size: 2 MiB}") ==
             "caches.mtt.shares: this platform has no mpt" + other);
  BOOST_TEST(TableError("mpt: {shares: mtt}") ==
             "caches.mpt.shares: 'mtt' is not known; "
             "use requester_context, responder_context or context");
  BOOST_TEST(TableError("mpt: {shares: responder_context, model: lru}") ==
             "caches.mpt.model: stands beside shares: it is the other cache's; leave it out");
  BOOST_TEST(TableError("mtt: {model: infinite}") ==
             "caches.mtt: has no page_size; give page_size: 2 MiB, say");
  for (const std::string size : {"2 KiB", "3 MiB", "2 GiB"}) {
    BOOST_TEST(TableError("mtt: {model: infinite, page_size: " + size + "}") ==
               "caches.mtt.page_size: is no size of a page; give a power of two, 4 KiB to 1 GiB");
  }
  BOOST_TEST(TableError("mtt: {shares: requester_context, page_size: 4 KiB}") ==
             "caches.mtt.page_size: is too small for pages to be told apart in a cache of others; "
             "give 2 MiB or more, or a model");
  BOOST_TEST(TableError("mpt: {model: lru, entries_count: 8, blocks: qp}") ==
             "caches.mpt.blocks: is of contexts; give it to them");
  BOOST_TEST(TableError("wqe: {model: lru, entries_count: 8}") == "");
  BOOST_TEST(TableError("wqe: {model: lru, entries_count: 8, outstanding_misses_count: 2}") ==
             "caches.wqe: has what is of contexts and translations; "
             "give lru, fifo, random, set_associative or replay, and no options");
  BOOST_TEST(TableError("wqes: {model: infinite}") ==
             "caches.wqes: there is no such cache; "
             "use requester_context, responder_context, context, mpt, mtt or wqe");
  BOOST_TEST(TableError("mpt: {model: lru, entries_count: 8, page_size: 4 KiB}") ==
             "caches.mpt.page_size: lru has no such key; give {model: lru, entries_count: 1024}");
}

BOOST_AUTO_TEST_CASE(WhatACacheIsEntersTheHashAndALruCacheReadsAsItDid) {
  const auto text_of = [](const std::string& cache) {
    return CanonicalText(LoadPlatformFile(WriteScratch(
        "p.yaml", Changed("requester_context: {model: infinite}", "requester_context: " + cache))));
  };
  BOOST_TEST(text_of("{model: infinite}")
                 .ends_with("requester_context: infinite 0\nresponder_context: infinite 0\n"));
  BOOST_TEST(text_of("{model: lru, entries_count: 8}")
                 .ends_with("requester_context: lru 8\nresponder_context: infinite 0\n"));
  const std::string sets = "{model: set_associative, entries_count: 8, ways_count: ";
  BOOST_TEST(text_of(sets + "2, hash: mix}") != text_of(sets + "4, hash: mix}"));
  BOOST_TEST(text_of(sets + "2, hash: mix}") != text_of(sets + "2, hash: modulo}"));
  const std::string levels =
      "{model: two_level, entries_count: 8, ways_count: 2, hash: mix, "
      "inclusion: inclusive, second_level_hit: {provenance: assumed, source: a, value: ";
  BOOST_TEST(text_of(levels + "1 ns}, first_level_entries_count: 1}") !=
             text_of(levels + "2 ns}, first_level_entries_count: 1}"));
  BOOST_TEST(text_of(levels + "1 ns}, first_level_entries_count: 1}") !=
             text_of(levels + "1 ns}, first_level_entries_count: 2}"));
}

}  // namespace
}  // namespace ringpost::config
