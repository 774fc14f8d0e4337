// cache_spec.h: a cache model and its geometry, as plain values; which keys a model has, and what
// is impossible about their values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringpost::sim {

struct RecordedLookups;

// Fields that the model does not have are ignored.
struct CacheSpec {
  std::string model = "infinite";
  uint64_t entries_count = 0;  // in all; of two_level, of the second level
  uint64_t ways_count = 0;     // entries of a set
  std::string hash = "";       // modulo | mix: the set of a key
  uint64_t first_level_entries_count = 0;
  std::string inclusion = "";  // inclusive | exclusive: what the second level holds of the first
  uint64_t banks_count = 0;    // that answer at the same time; 0: as many as are asked
  uint64_t prefetched_entries_count = 0;  // that a miss brings along
  uint64_t outstanding_misses_count = 0;  // at a time; 0: as many as there are
  std::string blocks = "";      // qp | stage: what a miss holds up; empty: what its role says
  std::string shares = "";      // of translations: the cache that they are part of; empty: none
  uint64_t page_bytes = 0;      // of an MTT: what an entry stands for
  std::string file = "";        // of a recording
  std::string unrecorded = "";  // refuse | miss | hit: what is found that is not in it
  std::shared_ptr<const RecordedLookups> recorded = {};  // what `file` says (lookup_file.h)
};

// One row of the table of models, from which the loader of platform files and configs/README.md
// are made.
struct CacheModel {
  std::string_view name;
  std::vector<std::string> keys;  // all that it needs beside `model`
  std::string_view example;       // the map of a platform file
  std::string_view meaning;
  std::vector<std::string> options = {};  // what it may have beside
};

const std::vector<CacheModel>& CacheModels();

// Null for an unknown name.
const CacheModel* FindCacheModel(std::string_view name);

// QP numbers have 24 bits: no NIC has more contexts than this.
constexpr uint64_t kMaxCacheEntries = uint64_t{1} << 24;

struct CacheMistake {
  std::string key;
  std::string wrong;
  std::string right;
};

// The first thing that is impossible about a spec.
std::optional<CacheMistake> MistakeIn(const CacheSpec& spec);

}  // namespace ringpost::sim
