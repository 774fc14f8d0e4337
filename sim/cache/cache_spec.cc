#include "sim/cache/cache_spec.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringpost::sim {
namespace {

std::optional<CacheMistake> SizeMistake(const char* key, uint64_t count) {
  const std::string right = fmt::format("give 1 to {}", kMaxCacheEntries);
  if (count == 0) return CacheMistake{key, "is zero", right};
  if (count <= kMaxCacheEntries) return {};
  return CacheMistake{key, fmt::format("{} is more than there are QP numbers", count), right};
}

std::optional<CacheMistake> WordMistake(const char* key, const std::string& word, const char* one,
                                        const char* other) {
  if (word == one || word == other) return {};
  return CacheMistake{key, fmt::format("'{}' is not known", word),
                      fmt::format("use {} or {}", one, other)};
}

std::optional<CacheMistake> SetsMistake(const CacheSpec& spec) {
  if (auto mistake = SizeMistake("ways_count", spec.ways_count)) return mistake;
  if (spec.entries_count % spec.ways_count != 0) {
    return CacheMistake{"ways_count",
                        fmt::format("{} ways do not divide {} entries into sets of equal size",
                                    spec.ways_count, spec.entries_count),
                        "give a divisor of entries_count"};
  }
  return WordMistake("hash", spec.hash, "modulo", "mix");
}

std::optional<CacheMistake> LevelsMistake(const CacheSpec& spec) {
  constexpr char kFirst[] = "first_level_entries_count";
  if (auto mistake = SizeMistake(kFirst, spec.first_level_entries_count)) return mistake;
  if (spec.first_level_entries_count >= spec.entries_count) {
    return CacheMistake{kFirst,
                        fmt::format("{} entries are no less than the {} of the second level",
                                    spec.first_level_entries_count, spec.entries_count),
                        "give less than entries_count"};
  }
  return WordMistake("inclusion", spec.inclusion, "inclusive", "exclusive");
}

}  // namespace

const std::vector<CacheModel>& CacheModels() {
  static const std::vector<CacheModel> models = {
      {"infinite", {}, "{model: infinite}", "nothing ever misses, not even the first time"},
      {"lru",
       {"entries_count"},
       "{model: lru, entries_count: 1024}",
       "fully associative; evicts what was used longest ago"},
      {"fifo",
       {"entries_count"},
       "{model: fifo, entries_count: 1024}",
       "fully associative; evicts what came in longest ago, used since or not"},
      {"random",
       {"entries_count"},
       "{model: random, entries_count: 1024}",
       "fully associative; evicts any entry, by the run's seed"},
      {"set_associative",
       {"entries_count", "ways_count", "hash"},
       "{model: set_associative, entries_count: 1024, ways_count: 8, hash: mix}",
       "`entries_count / ways_count` sets, each `lru`; the set of a QP is its number, or with "
       "`hash: mix` a hash of it, `modulo` the number of sets"},
      {"two_level",
       {"first_level_entries_count", "entries_count", "ways_count", "hash", "inclusion",
        "second_level_hit"},
       "{model: two_level, first_level_entries_count: 64, entries_count: 1024, ways_count: 8, "
       "hash: mix, inclusion: inclusive, second_level_hit: {value: 100 ns, provenance: ..., "
       "source: ...}}",
       "an `lru` first level in front of a `set_associative` second. `inclusive`: the second holds "
       "all of the first, sees what misses there, and takes along what it evicts. `exclusive`: a "
       "context is in one of them; what the first evicts goes to the second. "
       "`second_level_hit` is what a hit in the second costs"},
  };
  return models;
}

const CacheModel* FindCacheModel(std::string_view name) {
  const std::vector<CacheModel>& models = CacheModels();
  const auto found = std::find_if(models.begin(), models.end(),
                                  [name](const CacheModel& model) { return model.name == name; });
  return found == models.end() ? nullptr : &*found;
}

std::optional<CacheMistake> MistakeIn(const CacheSpec& spec) {
  const CacheModel* model = FindCacheModel(spec.model);
  if (model == nullptr) {
    std::string names;
    for (const CacheModel& one : CacheModels()) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
    }
    return CacheMistake{"model", fmt::format("'{}' is not known", spec.model),
                        "use one of " + names};
  }
  if (model->keys.empty()) return {};
  if (auto mistake = SizeMistake("entries_count", spec.entries_count)) return mistake;
  const bool two_level = spec.model == "two_level";
  if (two_level || spec.model == "set_associative") {
    if (auto mistake = SetsMistake(spec)) return mistake;
  }
  if (two_level) return LevelsMistake(spec);
  return {};
}

}  // namespace ringpost::sim
