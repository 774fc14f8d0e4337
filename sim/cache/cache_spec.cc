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

std::optional<CacheMistake> WordMistake(const char* key, const std::string& word,
                                        const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return {};
  std::string right = "use " + words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    right += (i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return CacheMistake{key, fmt::format("'{}' is not known", word), right};
}

std::optional<CacheMistake> SetsMistake(const CacheSpec& spec) {
  if (auto mistake = SizeMistake("ways_count", spec.ways_count)) return mistake;
  if (spec.entries_count % spec.ways_count != 0) {
    return CacheMistake{"ways_count",
                        fmt::format("{} ways do not divide {} entries into sets of equal size",
                                    spec.ways_count, spec.entries_count),
                        "give a divisor of entries_count"};
  }
  const uint64_t sets = spec.entries_count / spec.ways_count;
  if (spec.banks_count != 0 && sets % spec.banks_count != 0) {
    return CacheMistake{
        "banks_count", fmt::format("{} banks do not divide {} sets evenly", spec.banks_count, sets),
        "give a divisor of entries_count / ways_count"};
  }
  return WordMistake("hash", spec.hash, {"modulo", "mix"});
}

// Of what any model may have.
std::optional<CacheMistake> OptionsMistake(const CacheSpec& spec) {
  if (!spec.blocks.empty()) {
    if (auto mistake = WordMistake("blocks", spec.blocks, {"qp", "stage"})) return mistake;
  }
  if (spec.outstanding_misses_count > kMaxCacheEntries) {
    return SizeMistake("outstanding_misses_count", spec.outstanding_misses_count);
  }
  if (spec.model == "replay" || spec.prefetched_entries_count == 0) return {};
  if (spec.prefetched_entries_count < spec.entries_count) return {};
  return CacheMistake{"prefetched_entries_count",
                      fmt::format("{} entries beside the one that missed do not fit {}",
                                  spec.prefetched_entries_count, spec.entries_count),
                      "give less than entries_count"};
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
  return WordMistake("inclusion", spec.inclusion, {"inclusive", "exclusive"});
}

// What any finite cache may have, and what one of sets may have beside.
std::vector<std::string> Options() {
  return {"capacity",   "entry_size", "prefetched_entries_count", "outstanding_misses_count",
          "write_back", "blocks"};
}

std::vector<std::string> OptionsOfSets() {
  std::vector<std::string> all = Options();
  all.insert(all.end(), {"banks_count", "bank_service"});
  return all;
}

}  // namespace

const std::vector<CacheModel>& CacheModels() {
  static const std::vector<CacheModel> models = {
      {"infinite", {}, "{model: infinite}", "nothing ever misses, not even the first time"},
      {"lru",
       {"entries_count"},
       "{model: lru, entries_count: 1024}",
       "fully associative; evicts what was used longest ago",
       Options()},
      {"fifo",
       {"entries_count"},
       "{model: fifo, entries_count: 1024}",
       "fully associative; evicts what came in longest ago, used since or not",
       Options()},
      {"random",
       {"entries_count"},
       "{model: random, entries_count: 1024}",
       "fully associative; evicts any entry, by the run's seed",
       Options()},
      {"set_associative",
       {"entries_count", "ways_count", "hash"},
       "{model: set_associative, entries_count: 1024, ways_count: 8, hash: mix}",
       "`entries_count / ways_count` sets, each `lru`; the set of a QP is its number, or with "
       "`hash: mix` a hash of it, `modulo` the number of sets",
       OptionsOfSets()},
      {"two_level",
       {"first_level_entries_count", "entries_count", "ways_count", "hash", "inclusion",
        "second_level_hit"},
       "{model: two_level, first_level_entries_count: 64, entries_count: 1024, ways_count: 8, "
       "hash: mix, inclusion: inclusive, second_level_hit: {value: 100 ns, provenance: ..., "
       "source: ...}}",
       "an `lru` first level in front of a `set_associative` second. `inclusive`: the second holds "
       "all of the first, sees what misses there, and takes along what it evicts. `exclusive`: a "
       "context is in one of them; what the first evicts goes to the second. "
       "`second_level_hit` is what a hit in the second costs",
       OptionsOfSets()},
      {"replay",
       {"file", "unrecorded"},
       "{model: replay, file: lookups.csv, unrecorded: refuse}",
       "finds what a recording says: the n-th look-up of an entry what its n-th look-up there "
       "found. `file` is what `ringpost run --lookups` wrote, or a program of your own; a relative "
       "path is that from the platform file. A look-up that is not in it is a `miss` or a `hit`, "
       "or with `unrecorded: refuse` the run fails. Needs `second_level_hit` too where the "
       "recording has such hits",
       {"second_level_hit", "outstanding_misses_count", "blocks"}},
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
  if (spec.model == "replay") {
    if (spec.recorded == nullptr) return CacheMistake{"file", "has not been read", "read it first"};
    if (auto mistake = OptionsMistake(spec)) return mistake;
    return WordMistake("unrecorded", spec.unrecorded, {"refuse", "miss", "hit"});
  }
  if (auto mistake = SizeMistake("entries_count", spec.entries_count)) return mistake;
  if (auto mistake = OptionsMistake(spec)) return mistake;
  const bool two_level = spec.model == "two_level";
  if (two_level || spec.model == "set_associative") {
    if (auto mistake = SetsMistake(spec)) return mistake;
  }
  if (two_level) return LevelsMistake(spec);
  return {};
}

}  // namespace ringpost::sim
