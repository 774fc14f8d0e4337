// cache_spec.h: a cache model and its geometry, as plain values; which keys a model has, and what
// is impossible about their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringpost::sim {

// Fields that the model does not have are ignored.
struct CacheSpec {
  std::string model = "infinite";
  uint64_t entries_count = 0;  // in all; of two_level, of the second level
  uint64_t ways_count = 0;     // entries of a set
  std::string hash = "";       // modulo | mix: the set of a key
  uint64_t first_level_entries_count = 0;
  std::string inclusion = "";  // inclusive | exclusive: what the second level holds of the first
};

// One row of the table of models, from which the loader of platform files and configs/README.md
// are made.
struct CacheModel {
  std::string_view name;
  std::vector<std::string> keys;  // all that it needs beside `model`
  std::string_view example;       // the map of a platform file
  std::string_view meaning;
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
