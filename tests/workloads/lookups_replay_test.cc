// One real run's look-ups, and what every model of a context cache makes of them: the model that
// was on the NIC the same again, and the others what they must beside it.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "sim/cache/lookup_file.h"
#include "tests/sim/cache/replay.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

using sim::Accesses;
using sim::CacheSpec;
using sim::Lookup;

constexpr uint64_t kEntries = 64;

// What one cache of a NIC was asked, and what it answered.
struct Recording {
  Accesses keys;
  std::vector<Lookup> found;

  uint64_t Hits() const {
    uint64_t hits = 0;
    for (const Lookup one : found) hits += one == Lookup::kMiss ? 0 : 1;
    return hits;
  }
};

// By node and the cache's name in the file.
using Recordings = std::map<std::pair<uint32_t, std::string>, Recording>;

struct RecordedRun {
  uint64_t seed = 0;
  RunResult result;
  std::string file;  // all that `--lookups` wrote
  Recordings caches;
};

Lookup LookupOf(const std::string& name) {
  if (name == "hit") return Lookup::kHit;
  return name == "second_level_hit" ? Lookup::kSecondLevelHit : Lookup::kMiss;
}

Recordings Parsed(const std::string& file) {
  Recordings caches;
  std::istringstream in(file);
  for (std::string line; std::getline(in, line);) {
    uint32_t node = 0, qpn = 0, part = 0;
    std::array<char, 32> cache{}, found{};
    if (std::sscanf(line.c_str(), "%u,%31[a-z_],%u,%u,%31s", &node, cache.data(), &qpn, &part,
                    found.data()) != 5) {
      continue;  // the two lines at the head, and the last one
    }
    Recording& recording = caches[{node, cache.data()}];
    recording.keys.push_back(qpn | part << 24);
    recording.found.push_back(LookupOf(found.data()));
  }
  return caches;
}

// All to all over 64 queue pairs a peer, with a cache of this kind for each role, or for both
// where the platform's share one: more contexts than fit, some of which are used again soon.
RecordedRun RecordOnce(const std::string& platform_name, const CacheSpec& spec) {
  config::Sources sources;
  sources.assignments = config::ParseEnvironment(
      "platform=" + platform_name +
      " ranks=3 workload.kind=connection_scaling workload.visit_order=zipf "
      "workload.writes_per_visit=2 workload.threads=8 workload.threads_per_qp=1 "
      "transport.publication=per_thread transport.qps_per_peer=64 "
      "transport.sq_depth_wqebbs=8 visibility.checker=off");
  sim::Platform platform = config::LoadPlatform(platform_name);
  platform.context = platform.requester_context = platform.responder_context = spec;
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("lookups." + platform_name + "." + std::to_string(TestSeed())))
                               .string();
  RunOptions options;
  options.lookups_file = path;
  RecordedRun run;
  const config::Config config = config::Load(sources).config;
  run.seed = config.seed;
  run.result = Run(config, platform, options);
  BOOST_TEST_REQUIRE(run.result.ok, run.result.error);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  run.file = text.str();
  run.caches = Parsed(run.file);
  std::filesystem::remove(path);
  return run;
}

const RecordedRun& Record(const std::string& platform_name, const CacheSpec& spec) {
  static std::map<std::string, RecordedRun> runs;
  const std::string name = platform_name + " " + sim::NameOf(spec);
  const auto found = runs.find(name);
  return found != runs.end() ? found->second
                             : runs.emplace(name, RecordOnce(platform_name, spec)).first->second;
}

std::vector<Lookup> AnswersTo(const Accesses& keys, sim::ContextCache& cache) {
  std::vector<Lookup> found;
  for (const uint32_t key : keys) found.push_back(cache.Access(key));
  return found;
}

// The name of a cache's stream of random numbers, as the fabric gives it.
std::string StreamOf(const std::string& cache, uint32_t node) {
  const std::string role = cache == "context" ? "all" : cache.substr(0, cache.find('_'));
  return role + " contexts of node " + std::to_string(node);
}

std::vector<CacheSpec> AllModels() {
  std::vector<CacheSpec> all = sim::FiniteCaches(kEntries);
  all.push_back({.model = "infinite"});
  return all;
}

// Of a run on least recently used contexts: the longest one of its recordings.
const Recording& Trace() {
  const RecordedRun& run = Record("p_ib", {.model = "lru", .entries_count = kEntries});
  const Recording* longest = nullptr;
  for (const auto& [name, recording] : run.caches) {
    if (longest == nullptr || recording.keys.size() > longest->keys.size()) longest = &recording;
  }
  return *longest;
}

std::vector<bool> HitsOf(const CacheSpec& spec) {
  std::vector<bool> hits;
  for (const Lookup found : AnswersTo(Trace().keys, *sim::Make(spec))) {
    hits.push_back(found != Lookup::kMiss);
  }
  return hits;
}

uint64_t CountOf(const std::vector<bool>& hits) {
  return static_cast<uint64_t>(std::count(hits.begin(), hits.end(), true));
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheModelOfTheNicAnswersEachLookUpOfItsRunTheSameAgain) {
  for (const std::string platform : {"p_ib", "p_h100"}) {
    for (const CacheSpec& spec : AllModels()) {
      BOOST_TEST_CONTEXT(platform << ", " << sim::NameOf(spec)) {
        const RecordedRun& run = Record(platform, spec);
        BOOST_TEST_REQUIRE(run.caches.size() == (platform == "p_ib" ? 6u : 3u));
        for (const auto& [name, recording] : run.caches) {
          const auto cache = sim::MakeCache(spec, run.seed, StreamOf(name.second, name.first));
          BOOST_TEST((AnswersTo(recording.keys, *cache) == recording.found));
          if (spec.model != "infinite") {
            BOOST_TEST(recording.Hits() > 0u);
            BOOST_TEST(recording.Hits() < recording.keys.size());
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ARecordingHasTheHitsAndMissesThatTheRunCounted) {
  for (const CacheSpec& spec : AllModels()) {
    const RecordedRun& run = Record("p_ib", spec);
    for (const auto& [name, recording] : run.caches) {
      const std::string counter = "nic" + std::to_string(name.first) + "." + name.second;
      BOOST_TEST_CONTEXT(sim::NameOf(spec) << ", " << counter) {
        uint64_t hits = 0, all = 0;
        for (const auto& [key, value] : run.result.counters) {
          if (key == counter + "_hits") hits += value;  // of either level
          if (key == counter + "_hits" || key == counter + "_misses") all += value;
        }
        BOOST_TEST(recording.Hits() == hits);
        BOOST_TEST(recording.keys.size() == all);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(TheModelReplayAnswersFromTheFileWhatEveryModelAnswered) {
  for (const CacheSpec& spec : AllModels()) {
    const RecordedRun& run = Record("p_h100", spec);
    std::istringstream in(run.file);
    CacheSpec replay = {.model = "replay", .file = "lookups.csv", .unrecorded = "refuse"};
    replay.recorded = std::make_shared<const sim::RecordedLookups>(sim::ReadLookups(in, "context"));
    for (const auto& [name, recording] : run.caches) {
      const auto cache = sim::MakeCache(replay, run.seed, "replay", name.first);
      BOOST_TEST((AnswersTo(recording.keys, *cache) == recording.found), sim::NameOf(spec));
      BOOST_TEST(cache->Fault() == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(OnOneRecordingNoModelHitsMoreThanAnInfiniteOneNorMissesLessThanItsEntries) {
  const std::set<uint32_t> distinct(Trace().keys.begin(), Trace().keys.end());
  BOOST_TEST_REQUIRE(distinct.size() > kEntries);
  BOOST_TEST(CountOf(HitsOf({.model = "infinite"})) == Trace().keys.size());
  for (const CacheSpec& spec : sim::FiniteCaches(kEntries)) {
    const uint64_t hits = CountOf(HitsOf(spec));
    BOOST_TEST(hits <= Trace().keys.size() - distinct.size(), sim::NameOf(spec));
    BOOST_TEST(hits > 0u, sim::NameOf(spec));
  }
}

BOOST_AUTO_TEST_CASE(OnOneRecordingGeometriesThatAreOneLruCacheHitWhereItDoes) {
  const std::vector<bool> lru = HitsOf({.model = "lru", .entries_count = kEntries});
  BOOST_TEST(CountOf(lru) == Trace().Hits());  // of the run itself
  const CacheSpec same[] = {
      sim::Sets(kEntries, kEntries, "mix"), sim::Sets(kEntries, kEntries, "modulo"),
      sim::TwoLevels(kEntries / 4, kEntries - kEntries / 4, "exclusive"),
      sim::TwoLevels(1, kEntries, "inclusive"),  // the first has what the second used last
  };
  for (const CacheSpec& spec : same) BOOST_TEST((HitsOf(spec) == lru), sim::NameOf(spec));
  const CacheSpec others[] = {{.model = "fifo", .entries_count = kEntries},
                              {.model = "random", .entries_count = kEntries},
                              sim::Sets(kEntries, 4, "mix")};
  for (const CacheSpec& spec : others) BOOST_TEST((HitsOf(spec) != lru), sim::NameOf(spec));
}

BOOST_AUTO_TEST_CASE(OnOneRecordingModelsOfOneEntryAreTheSame) {
  const std::vector<bool> lru = HitsOf({.model = "lru", .entries_count = 1});
  BOOST_TEST((HitsOf({.model = "fifo", .entries_count = 1}) == lru));
  BOOST_TEST((HitsOf({.model = "random", .entries_count = 1}) == lru));
  BOOST_TEST((HitsOf(sim::Sets(1, 1, "mix")) == lru));
}

BOOST_AUTO_TEST_CASE(OnOneRecordingALargerLruCacheHitsWhereverASmallerOneDoes) {
  std::vector<bool> smaller;
  for (uint64_t entries = kEntries / 8; entries <= kEntries; entries *= 2) {
    const std::vector<bool> hits = HitsOf({.model = "lru", .entries_count = entries});
    for (size_t i = 0; i < smaller.size(); ++i) BOOST_TEST_REQUIRE((!smaller[i] || hits[i]));
    BOOST_TEST(CountOf(hits) > CountOf(smaller));
    smaller = hits;
  }
}

}  // namespace ringpost::workloads
