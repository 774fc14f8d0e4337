#include "sim/cost/platform.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/config_error.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"
#include "tests/configs/scratch.h"

namespace ringpost::config {
namespace {

// P-IB with one piece of its text replaced.
std::string Changed(const std::string& from, const std::string& to) {
  std::string text = ReadText(PlatformPath("p_ib"));
  const size_t at = text.find(from);
  BOOST_TEST_REQUIRE(at != std::string::npos, "no '" << from << "' in p_ib.yaml");
  return text.replace(at, from.size(), to);
}

// What is said about a platform, without file, line and column; empty when it loads.
std::string ErrorOf(const std::string& text) {
  const std::string path = WriteScratch("p.yaml", text);
  try {
    LoadPlatformFile(path);
  } catch (const ConfigError& error) {
    const std::string line = std::string(error.what()).substr(path.size());
    return line.substr(line.find(": ") + 2);
  }
  return "";
}

constexpr char kTimeForm[] =
    "give {value: 369 ns, provenance: ..., source: ...} or {cycles: 120, time: 40 ns, ...}";

BOOST_AUTO_TEST_CASE(ANumberMayHaveAPartInCyclesAndAPartInTime) {
  const std::string path = WriteScratch(
      "p.yaml", Changed("warp_sync: {cycles: 1,", "warp_sync: {cycles: 20, time: 5 ns,"));
  const sim::Platform platform = LoadPlatformFile(path);
  BOOST_TEST(platform.name == "p");
  BOOST_TEST(platform.warp_sync.cycles == 20.0);
  BOOST_TEST(platform.warp_sync.ns == 5.0);
  BOOST_TEST(platform.link_rate.value == 200.0);
  BOOST_TEST(platform.mtu.value == 4096.0);
  BOOST_TEST(platform.header_bytes.value == 42.0);
  BOOST_TEST((platform.link_rate.provenance == sim::Provenance::kPaper));
}

BOOST_AUTO_TEST_CASE(ACacheMayBeFinite) {
  const std::string path =
      WriteScratch("p.yaml", Changed("responder_context: {model: infinite}",
                                     "responder_context: {model: lru, entries_count: 1024}"));
  const sim::Platform platform = LoadPlatformFile(path);
  BOOST_TEST(platform.requester_context.model == "infinite");
  BOOST_TEST(platform.responder_context.model == "lru");
  BOOST_TEST(platform.responder_context.entries_count == 1024u);
}

BOOST_AUTO_TEST_CASE(EveryParameterIsRequired) {
  BOOST_TEST(ErrorOf(Changed("  spin: {", "  # spin: {")) ==
             std::string("gpu.spin: is not in this file; ") + kTimeForm);
}

BOOST_AUTO_TEST_CASE(AnUnknownParameterIsAnsweredWithTheNearestOne) {
  BOOST_TEST(ErrorOf(Changed("  spin: {", "  sping: {")) ==
             "gpu.sping: there is no such parameter; did you mean gpu.spin?");
  BOOST_TEST(ErrorOf(Changed("\nnic:", "\nnick:")) ==
             "nick: there is no such key; did you mean nic?");
}

BOOST_AUTO_TEST_CASE(ANumberSaysWhereItComesFrom) {
  BOOST_TEST(
      ErrorOf(Changed("rate: {value: 200 Gb/s, provenance: paper,", "rate: {value: 200 Gb/s,")) ==
      "link.rate: has no provenance; "
      "give {value: 200 Gb/s, provenance: ..., source: ...}");
  BOOST_TEST(ErrorOf(Changed("rate: {value: 200 Gb/s, provenance: paper",
                             "rate: {value: 200 Gb/s, provenance: guessed")) ==
             "link.rate.provenance: 'guessed' is not known; "
             "use paper, datasheet, measured, fitted or assumed");
}

BOOST_AUTO_TEST_CASE(ANumberWithoutUnitIsRefused) {
  BOOST_TEST(ErrorOf(Changed("hop_latency: {value: 130 ns", "hop_latency: {value: 270")) ==
             "link.hop_latency.value: '270' has no unit; "
             "give a time in ns, us or ms, such as 50 us");
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
                  "use one of infinite, lru, fifo, random, set_associative, two_level");
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
  BOOST_TEST(platform.requester_second_level_hit.ns == 120.0);
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

BOOST_AUTO_TEST_CASE(AZeroLinkRateIsRefused) {
  BOOST_TEST(ErrorOf(Changed("value: 200 Gb/s", "value: 0 Gb/s")) ==
             "link.rate.value: is zero; give {value: 200 Gb/s, provenance: ..., source: ...}");
}

}  // namespace
}  // namespace ringpost::config
