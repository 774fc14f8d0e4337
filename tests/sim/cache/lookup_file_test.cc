// Look-ups of one run as a file, and a cache that answers from it.
#include "sim/cache/lookup_file.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <sstream>

#include "sim/cache/recorder.h"
#include "sim/engine/random.h"
#include "tests/sim/cache/replay.h"

namespace ringpost::sim {
namespace {

constexpr char kHead[] = "ringpost-lookups,1\nnode,cache,qpn,line,found\n";
constexpr char kName[] = "requester_context";

// A mix of entries in use and entries passed by, of two lines each.
Accesses RandomAccesses(const char* stream, uint64_t count) {
  Rng random(TestSeed(), stream);
  Accesses accesses;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t qpn = random.Below(3) == 0 ? random.Below(200) : random.Below(12);
    accesses.push_back(static_cast<uint32_t>(qpn | random.Below(2) << 24));
  }
  return accesses;
}

std::string FileOf(const std::vector<LookupRow>& rows) {
  std::ostringstream out;
  WriteLookups(rows, out);
  return out.str();
}

RecordedLookups Read(const std::string& text, const std::string& cache = kName) {
  std::istringstream in(text);
  return ReadLookups(in, cache);
}

CacheSpec ReplayOf(const std::string& text, const std::string& unrecorded) {
  return {.model = "replay",
          .file = "t.csv",
          .unrecorded = unrecorded,
          .recorded = std::make_shared<const RecordedLookups>(Read(text))};
}

// "3: what is wrong", without what would be right.
std::string MistakeOf(const std::string& text) {
  try {
    Read(text);
  } catch (const LookupFileMistake& mistake) {
    BOOST_TEST(!mistake.right.empty());
    return std::to_string(mistake.line) + ": " + mistake.wrong;
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(AReplayFindsAtEachAccessWhatTheRecordedCacheFound) {
  for (const CacheSpec& spec : FiniteCaches(16)) {
    std::vector<LookupRow> rows;
    Recorder recorder(Make(spec), 3, CacheName::kRequesterContext, rows);
    const Accesses accesses = RandomAccesses("replayed", 2000);
    std::vector<Lookup> found;
    for (const uint32_t key : accesses) found.push_back(recorder.Access(key));
    const CacheSpec replayed = ReplayOf(FileOf(rows), "refuse");
    const auto replay = MakeCache(replayed, 1, "test", 3);
    for (size_t i = 0; i < accesses.size(); ++i) {
      BOOST_TEST_REQUIRE(replay->Access(accesses[i]) == found[i], NameOf(spec) << " access " << i);
    }
    BOOST_TEST(replay->Fault() == "");
    // Another node has no recording.
    BOOST_TEST(MakeCache(replayed, 1, "test", 2)->Access(accesses[0]) == Lookup::kMiss);
  }
}

BOOST_AUTO_TEST_CASE(WhatAnEntryFindsDoesNotDependOnTheOrderAmongEntries) {
  std::vector<LookupRow> rows;
  Recorder recorder(Make({.model = "lru", .entries_count = 8}), 0, CacheName::kRequesterContext,
                    rows);
  const Counts counts = Replay(recorder, RandomAccesses("order", 1000));
  BOOST_TEST_REQUIRE(counts.hits > 0u);
  BOOST_TEST_REQUIRE(counts.misses > 0u);
  const auto replay = MakeCache(ReplayOf(FileOf(rows), "refuse"), 1, "test");
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LookupRow& a, const LookupRow& b) { return a.key < b.key; });
  for (const LookupRow& row : rows) BOOST_TEST_REQUIRE(replay->Access(row.key) == row.found);
}

BOOST_AUTO_TEST_CASE(ALookUpThatWasNotRecordedIsAFaultAMissOrAHitAsAsked) {
  const std::string text =
      std::string(kHead) + "0,requester_context,5,0,hit\n0,responder_context,6,0,hit\nend,2\n";
  const auto miss = MakeCache(ReplayOf(text, "miss"), 1, "test");
  const auto hit = MakeCache(ReplayOf(text, "hit"), 1, "test");
  const auto refuse = MakeCache(ReplayOf(text, "refuse"), 1, "test");
  for (const auto& cache : {miss.get(), hit.get(), refuse.get()}) {
    BOOST_TEST(cache->Access(5) == Lookup::kHit);
    BOOST_TEST(cache->Fault() == "");
  }
  BOOST_TEST(miss->Access(5) == Lookup::kMiss);
  BOOST_TEST(miss->Access(6) == Lookup::kMiss);  // the other cache's
  BOOST_TEST(hit->Access(6) == Lookup::kHit);
  BOOST_TEST(miss->Fault() + hit->Fault() == "");
  refuse->Access(5);
  refuse->Access(7 | 2 << 24);
  BOOST_TEST(refuse->Fault().starts_with("t.csv has 1 look-ups of QP 5, line 0, at node 0, and "));
}

BOOST_AUTO_TEST_CASE(AFileThatWasCutAnywhereIsRefused) {
  std::vector<LookupRow> rows;
  Recorder recorder(Make({.model = "lru", .entries_count = 4}), 0, CacheName::kRequesterContext,
                    rows);
  Replay(recorder, RandomAccesses("cut", 30));
  const std::string text = FileOf(rows);
  BOOST_TEST(Read(text).count == 30u);
  // The last line's end alone says nothing more.
  for (size_t length = 0; length + 1 < text.size(); ++length) {
    BOOST_TEST(MistakeOf(text.substr(0, length)) != "", "cut to " << length << " bytes");
  }
}

BOOST_AUTO_TEST_CASE(WhatIsWrongInAFileIsToldWithItsLine) {
  const std::string head = kHead;
  const std::string row = "0,requester_context,5,0,hit\n";
  BOOST_TEST(MistakeOf("") == "1: is not 'ringpost-lookups,1'");
  BOOST_TEST(MistakeOf("ringpost-lookups,1\nnode\n") == "2: is not 'node,cache,qpn,line,found'");
  BOOST_TEST(MistakeOf(head + row) ==
             "3: the file ends after 1 look-ups without the line 'end,COUNT'");
  BOOST_TEST(MistakeOf(head + row + "end,2\n") == "4: 'end,2' stands below 1 look-ups");
  BOOST_TEST(MistakeOf(head + row + "end,1\n" + row) == "5: stands below the end");
  BOOST_TEST(MistakeOf(head + "0,responder_context,5,0,hit\nend,1\n") ==
             "4: there is no look-up of requester_context in this file");
  for (const std::string bad :
       {"", "0,requester_context,5,0", "0,requester_context,5,0,hit,",
        "x,requester_context,5,0,hit", "0,requester,5,0,hit", "0,requester_context,16777216,0,hit",
        "0,requester_context,5,256,hit", "65536,requester_context,5,0,hit",
        "0,requester_context,-5,0,hit", "0,requester_context,5,0,hits", "END,1"}) {
    BOOST_TEST(MistakeOf(head + row + bad + "\nend,2\n") == "4: '" + bad + "' is no look-up");
  }
}

BOOST_AUTO_TEST_CASE(TheHashOfARecordingIsOverWhatItSays) {
  const auto hash = [](const std::string& rows) {
    return Read(std::string(kHead) + rows + "end,2\n").hash;
  };
  const std::string one = "0,requester_context,5,0,hit\n";
  BOOST_TEST(hash(one + one) == hash(one + one));
  for (const std::string other :
       {"1,requester_context,5,0,hit\n", "0,requester_context,6,0,hit\n",
        "0,requester_context,5,1,hit\n", "0,requester_context,5,0,miss\n"}) {
    BOOST_TEST(hash(one + other) != hash(one + one));
    BOOST_TEST(hash(one + other) != hash(other + one));
  }
}

}  // namespace ringpost::sim
