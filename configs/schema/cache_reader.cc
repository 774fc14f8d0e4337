#include "configs/schema/cache_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "configs/schema/config_error.h"
#include "configs/schema/parameter_reader.h"
#include "configs/schema/quantity.h"
#include "sim/cache/cache_spec.h"

namespace ringpost::config {
namespace {

constexpr char kModel[] = "model";
constexpr char kSecondLevelHit[] = "second_level_hit";

struct CountKey {
  const char* key;
  uint64_t sim::CacheSpec::*count;
};
constexpr CountKey kCounts[] = {
    {"entries_count", &sim::CacheSpec::entries_count},
    {"ways_count", &sim::CacheSpec::ways_count},
    {"first_level_entries_count", &sim::CacheSpec::first_level_entries_count},
};

struct WordKey {
  const char* key;
  std::string sim::CacheSpec::*word;
};
constexpr WordKey kWords[] = {
    {kModel, &sim::CacheSpec::model},
    {"hash", &sim::CacheSpec::hash},
    {"inclusion", &sim::CacheSpec::inclusion},
};

sim::ParameterInfo SecondLevelInfo(const std::string& key) {
  return {key.c_str(), nullptr, sim::Unit::kTime, ""};
}

class CacheReader {
 public:
  CacheReader(const YamlText& yaml, const YAML::Node& node, const std::string& path)
      : yaml_(yaml), node_(node), path_(path) {}

  CacheChoice Read() {
    for (const MapItem& item : ItemsOf(yaml_, node_, path_)) items_.emplace(item.key, item);
    const sim::CacheModel& model = ReadModel();
    const std::string form = fmt::format("give {}", model.example);
    for (const auto& [key, item] : items_) {
      if (key == kModel) continue;
      if (std::find(model.keys.begin(), model.keys.end(), key) == model.keys.end()) {
        Fail(item.key_node, KeyOf(key), {fmt::format("{} has no such key", model.name), form});
      }
      ReadValue(item, form);
    }
    for (const std::string& key : model.keys) {
      if (!items_.contains(key)) Fail(node_, path_, {fmt::format("has no {}", key), form});
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
    if (item.key == kSecondLevelHit) {
      cache_.second_level_hit = ReadParameter(yaml_, item.value, SecondLevelInfo(key));
      return;
    }
    const std::string text = ScalarOf(yaml_, item.value, key, form);
    for (const CountKey& count : kCounts) {
      if (item.key != count.key) continue;
      if (!ParseWholeNumber(text, cache_.spec.*(count.count))) {
        Fail(item.value, key, {fmt::format("'{}' is not a count", text), form});
      }
    }
    for (const WordKey& word : kWords) {
      if (item.key == word.key) cache_.spec.*(word.word) = text;
    }
  }

  const YamlText& yaml_;
  const YAML::Node& node_;
  const std::string& path_;
  std::map<std::string, MapItem> items_;
  CacheChoice cache_;
};

}  // namespace

CacheChoice ReadCache(const YamlText& yaml, const YAML::Node& node, const std::string& path) {
  return CacheReader(yaml, node, path).Read();
}

std::string CacheText(const CacheChoice& cache) {
  const sim::CacheSpec& spec = cache.spec;
  std::string text = fmt::format("{} {}", spec.model, spec.entries_count);
  const bool two_level = spec.model == "two_level";
  if (two_level || spec.model == "set_associative") {
    text += fmt::format(" ways {} {}", spec.ways_count, spec.hash);
  }
  if (two_level) {
    text += fmt::format(" behind {} {}, {}", spec.first_level_entries_count, spec.inclusion,
                        SecondLevelText("hit", cache.second_level_hit));
  }
  return text;
}

std::string SecondLevelText(const std::string& path, const sim::Parameter& hit) {
  const std::string key = path + "." + kSecondLevelHit;
  return fmt::format("{}: {}", key, NumberText(SecondLevelInfo(key), hit));
}

}  // namespace ringpost::config
