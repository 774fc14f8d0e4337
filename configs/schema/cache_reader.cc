#include "configs/schema/cache_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "configs/schema/config_error.h"
#include "configs/schema/parameter_reader.h"
#include "configs/schema/quantity.h"
#include "configs/schema/schema.h"
#include "sim/cache/cache_spec.h"
#include "sim/cache/lookup_file.h"

namespace ringpost::config {
namespace {

constexpr char kModel[] = "model";
constexpr char kSecondLevelHit[] = "second_level_hit";
constexpr char kEntries[] = "entries_count";
constexpr char kCapacity[] = "capacity";
constexpr char kEntrySize[] = "entry_size";
constexpr char kShares[] = "shares";
constexpr char kPageSize[] = "page_size";
constexpr char kBanks[] = "banks_count";
constexpr char kBankService[] = "bank_service";
constexpr char kFile[] = "file";

struct CountKey {
  const char* key;
  uint64_t sim::CacheSpec::*count;
};
constexpr CountKey kCounts[] = {
    {kEntries, &sim::CacheSpec::entries_count},
    {"ways_count", &sim::CacheSpec::ways_count},
    {"first_level_entries_count", &sim::CacheSpec::first_level_entries_count},
    {kBanks, &sim::CacheSpec::banks_count},
    {"prefetched_entries_count", &sim::CacheSpec::prefetched_entries_count},
    {"outstanding_misses_count", &sim::CacheSpec::outstanding_misses_count},
};

struct WordKey {
  const char* key;
  std::string sim::CacheSpec::*word;
};
constexpr WordKey kWords[] = {
    {kModel, &sim::CacheSpec::model},          {"hash", &sim::CacheSpec::hash},
    {"inclusion", &sim::CacheSpec::inclusion}, {"unrecorded", &sim::CacheSpec::unrecorded},
    {"blocks", &sim::CacheSpec::blocks},
};

struct TimeKey {
  const char* key;
  sim::Parameter sim::CacheTimes::*time;
};
constexpr TimeKey kTimes[] = {
    {kSecondLevelHit, &sim::CacheTimes::second_level_hit},
    {kBankService, &sim::CacheTimes::bank_service},
    {"write_back", &sim::CacheTimes::write_back},
};

bool Contains(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

constexpr uint64_t kLeastPage = 4096;
constexpr uint64_t kMostPage = 1 << 30;
constexpr double kMostBytes = 16.0 * (1 << 30);

constexpr char kRecording[] = "name a file that run --lookups has written";

sim::ParameterInfo TimeInfo(const std::string& key) {
  return {key.c_str(), nullptr, sim::Unit::kTime, ""};
}

class CacheReader {
 public:
  CacheReader(const YamlText& yaml, const YAML::Node& node, const std::string& path)
      : yaml_(yaml), node_(node), path_(path) {
    for (const MapItem& item : ItemsOf(yaml_, node_, path_)) items_.emplace(item.key, item);
  }

  CacheChoice ReadTable() {
    const bool of_pages = path_.ends_with(".mtt");
    if (of_pages) ReadPageSize();
    const auto found = items_.find(kShares);
    if (found == items_.end()) return Read();
    std::vector<std::string> words = {"requester_context", "responder_context", "context"};
    if (of_pages) words.emplace_back("mpt");
    const std::string right = "use " + Join(words);
    const std::string word = ScalarOf(yaml_, found->second.value, KeyOf(kShares), right);
    if (!Contains(words, word)) {
      Fail(found->second.value, KeyOf(kShares), {fmt::format("'{}' is not known", word), right});
    }
    for (const auto& [key, item] : items_) {
      if (key == kShares) continue;
      Fail(item.key_node, KeyOf(key),
           {"stands beside shares: it is the other cache's", "leave it out"});
    }
    cache_.spec.shares = word;
    return cache_;
  }

  CacheChoice Read() {
    const sim::CacheModel& model = ReadModel();
    const std::string form = fmt::format("give {}", model.example);
    for (const auto& [key, item] : items_) {
      if (key == kModel) continue;
      if (!Contains(model.keys, key) && !Contains(model.options, key)) {
        Fail(item.key_node, KeyOf(key), {fmt::format("{} has no such key", model.name), form});
      }
      ReadValue(item, form);
    }
    ReadCapacity(form);
    for (const std::string& key : model.keys) {
      const bool sized = key == kEntries && items_.contains(kCapacity);
      if (!sized && !items_.contains(key))
        Fail(node_, path_, {fmt::format("has no {}", key), form});
    }
    // What an option needs beside it.
    for (const auto& [key, other] : {std::pair{kBanks, kBankService}, {kBankService, kBanks}}) {
      if (!items_.contains(key) || items_.contains(other)) continue;
      Fail(items_.at(key).key_node, KeyOf(key),
           {fmt::format("needs {} beside it", other),
            fmt::format("give both, or leave out {}", key)});
    }
    FailOn(MistakeIn(cache_.spec));
    return cache_;
  }

 private:
  [[noreturn]] void Fail(const YAML::Node& node, const std::string& key, const ValueError& error) {
    throw ConfigError(yaml_.At(node), key, error);
  }
  std::string KeyOf(const std::string& key) const { return path_ + "." + key; }

  void FailOn(const std::optional<sim::CacheMistake>& mistake) {
    if (!mistake) return;
    // Entries may have been given as a capacity.
    if (!items_.contains(mistake->key)) {
      Fail(items_.at(kCapacity).value, KeyOf(kCapacity), {mistake->wrong, mistake->right});
    }
    Fail(items_.at(mistake->key).value, KeyOf(mistake->key), {mistake->wrong, mistake->right});
  }

  const sim::CacheModel& ReadModel() {
    const auto found = items_.find(kModel);
    if (found == items_.end()) Fail(node_, path_, {"has no model", "give {model: infinite}"});
    const YAML::Node& node = found->second.value;
    cache_.spec.model = ScalarOf(yaml_, node, KeyOf(kModel), "give {model: infinite}");
    const sim::CacheModel* model = sim::FindCacheModel(cache_.spec.model);
    if (model == nullptr) FailOn(MistakeIn(cache_.spec));
    return *model;
  }

  void ReadValue(const MapItem& item, const std::string& form) {
    const std::string key = KeyOf(item.key);
    for (const TimeKey& time : kTimes) {
      if (item.key != time.key) continue;
      cache_.times.*(time.time) = ReadParameter(yaml_, item.value, TimeInfo(key));
      return;
    }
    if (item.key == kCapacity || item.key == kEntrySize) return;  // together: ReadCapacity
    const std::string text = ScalarOf(yaml_, item.value, key, form);
    if (item.key == kFile) return ReadRecording(item, text);
    for (const CountKey& count : kCounts) {
      if (item.key != count.key) continue;
      if (!ParseWholeNumber(text, cache_.spec.*(count.count))) {
        Fail(item.value, key, {fmt::format("'{}' is not a count", text), form});
      }
      if (cache_.spec.*(count.count) == 0 && IsOption(item.key)) {
        Fail(item.value, key, {"is zero", "give 1 or more, or leave it out"});
      }
    }
    for (const WordKey& word : kWords) {
      if (item.key == word.key) cache_.spec.*(word.word) = text;
    }
  }

  // Taken out of what else is read.
  void ReadPageSize() {
    if (!items_.contains(kPageSize)) {
      Fail(node_, path_, {"has no page_size", "give page_size: 2 MiB, say"});
    }
    const uint64_t bytes = BytesOf(kPageSize);
    const bool fits = std::has_single_bit(bytes) && bytes >= kLeastPage && bytes <= kMostPage;
    if (!fits) {
      Fail(items_.at(kPageSize).value, KeyOf(kPageSize),
           {"is no size of a page", "give a power of two, 4 KiB to 1 GiB"});
    }
    cache_.spec.page_bytes = bytes;
    items_.erase(kPageSize);
  }

  bool IsOption(const std::string& key) const {
    const sim::CacheModel* model = sim::FindCacheModel(cache_.spec.model);
    return Contains(model->options, key);
  }

  uint64_t BytesOf(const char* key) {
    const MapItem& item = items_.at(key);
    try {
      const double bytes = ParseQuantity(ScalarOf(yaml_, item.value, KeyOf(key), "give a size"),
                                         QuantityKind::kBytes);
      if (bytes < 1 || bytes > kMostBytes) {
        throw ValueError{fmt::format("{} B are not what a NIC has on chip", bytes),
                         "give 1 B to 16 GiB"};
      }
      return static_cast<uint64_t>(bytes);
    } catch (const ValueError& error) {
      Fail(item.value, KeyOf(key), error);
    }
  }

  // As many entries as fit.
  void ReadCapacity(const std::string& form) {
    if (!items_.contains(kCapacity) && !items_.contains(kEntrySize)) return;
    for (const auto& [key, other] : {std::pair{kCapacity, kEntrySize}, {kEntrySize, kCapacity}}) {
      if (items_.contains(other)) continue;
      Fail(items_.at(key).key_node, KeyOf(key), {fmt::format("needs {} beside it", other), form});
    }
    if (items_.contains(kEntries)) {
      Fail(items_.at(kEntries).key_node, KeyOf(kEntries),
           {"stands beside a capacity, which says the same", "leave out one of the two"});
    }
    cache_.spec.entries_count = BytesOf(kCapacity) / BytesOf(kEntrySize);
    if (cache_.spec.entries_count > 0) return;
    Fail(items_.at(kEntrySize).value, KeyOf(kEntrySize),
         {"is more than the capacity", "give at most that"});
  }

  // The place of a mistake in the recording is a line of that file.
  void ReadRecording(const MapItem& item, const std::string& text) {
    const std::string key = KeyOf(item.key);
    const std::filesystem::path folder = std::filesystem::path(yaml_.file).parent_path();
    const std::string file = (folder / text).string();
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) {
      Fail(item.value, key, {fmt::format("'{}' is a folder", file), kRecording});
    }
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      Fail(item.value, key,
           {fmt::format("'{}' cannot be read ({})", file, std::strerror(errno)), kRecording});
    }
    sim::RecordedLookups recorded;
    try {
      recorded = sim::ReadLookups(in, path_.substr(path_.rfind('.') + 1));
    } catch (const sim::LookupFileMistake& mistake) {
      throw ConfigError({file, static_cast<int>(mistake.line), 1}, key,
                        {mistake.wrong, mistake.right});
    }
    if (recorded.second_level_line != 0 && !items_.contains(kSecondLevelHit)) {
      throw ConfigError({file, static_cast<int>(recorded.second_level_line), 1}, key,
                        {"is a hit of a second level, and nothing says what it costs",
                         fmt::format("give {}", KeyOf(kSecondLevelHit))});
    }
    cache_.spec.file = file;
    cache_.spec.recorded = std::make_shared<const sim::RecordedLookups>(std::move(recorded));
  }

  const YamlText& yaml_;
  const YAML::Node& node_;
  const std::string& path_;
  std::map<std::string, MapItem> items_;
  CacheChoice cache_;
};

}  // namespace

CacheChoice ReadTranslations(const YamlText& yaml, const YAML::Node& node,
                             const std::string& path) {
  return CacheReader(yaml, node, path).ReadTable();
}

CacheChoice ReadCache(const YamlText& yaml, const YAML::Node& node, const std::string& path) {
  return CacheReader(yaml, node, path).Read();
}

namespace {

// Of the model and its geometry.
std::string ModelText(const sim::CacheSpec& spec) {
  if (spec.recorded != nullptr) {
    // What it says, wherever it lies.
    return fmt::format("replay {} look-ups {:016x}, else {}", spec.recorded->count,
                       spec.recorded->hash, spec.unrecorded);
  }
  std::string text = fmt::format("{} {}", spec.model, spec.entries_count);
  const bool two_level = spec.model == "two_level";
  if (two_level || spec.model == "set_associative") {
    text += fmt::format(" ways {} {}", spec.ways_count, spec.hash);
  }
  if (two_level) {
    text += fmt::format(" behind {} {}", spec.first_level_entries_count, spec.inclusion);
  }
  return text;
}

}  // namespace

std::string CacheText(const CacheChoice& cache) {
  const sim::CacheSpec& spec = cache.spec;
  std::string text = ModelText(spec);
  for (const auto& [name, count] : {std::pair{"banks", spec.banks_count},
                                    {"prefetched", spec.prefetched_entries_count},
                                    {"outstanding", spec.outstanding_misses_count}}) {
    if (count != 0) text += fmt::format(", {} {}", name, count);
  }
  if (!spec.shares.empty()) text += ", in " + spec.shares;
  if (spec.page_bytes != 0) text += fmt::format(", pages of {} B", spec.page_bytes);
  if (!spec.blocks.empty()) text += ", blocks " + spec.blocks;
  for (const auto& [key, time] : TimesOf("hit", cache.times)) {
    text += ", " + TimeText(key, *time);
  }
  return text;
}

std::map<std::string, const sim::Parameter*> TimesOf(const std::string& path,
                                                     const sim::CacheTimes& times) {
  std::map<std::string, const sim::Parameter*> given;
  for (const TimeKey& time : kTimes) {
    const sim::Parameter& its = times.*(time.time);
    if (!its.source.empty()) given[path + "." + time.key] = &its;
  }
  return given;
}

std::string TimeText(const std::string& key, const sim::Parameter& time) {
  return fmt::format("{}: {}", key, NumberText(TimeInfo(key), time));
}

}  // namespace ringpost::config
