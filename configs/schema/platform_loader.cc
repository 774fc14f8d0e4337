#include "configs/schema/platform_loader.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "configs/schema/quantity.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"

namespace ringpost::config {
namespace {

constexpr char kBase[] = "base";
constexpr char kCaches[] = "caches";
constexpr char kLinkLayer[] = "link_layer";

using sim::Parameter;
using sim::ParameterInfo;
using sim::Platform;
using sim::Provenance;
using sim::Unit;

const ParameterInfo* FindParameter(const std::string& path) {
  for (const ParameterInfo& info : sim::Parameters()) {
    if (path == info.key) return &info;
  }
  return nullptr;
}

std::string BlockOf(const ParameterInfo& info) {
  const std::string key = info.key;
  return key.substr(0, key.find('.'));
}

QuantityKind KindOf(Unit unit) {
  switch (unit) {
    case Unit::kMegahertz:
      return QuantityKind::kFrequency;
    case Unit::kGigabitsPerSecond:
      return QuantityKind::kBandwidth;
    case Unit::kBytes:
      return QuantityKind::kBytes;
    default:
      return QuantityKind::kTime;
  }
}

std::string FormOf(const ParameterInfo& info) {
  switch (info.unit) {
    case Unit::kTime:
      return "give {value: 369 ns, provenance: ..., source: ...} or {cycles: 120, time: 40 ns, "
             "...}";
    case Unit::kCount:
      return "give {value: 132, provenance: ..., source: ...}";
    default:
      return fmt::format("give {{value: {}, provenance: ..., source: ...}}",
                         ExampleOf(KindOf(info.unit)));
  }
}

// Reads one platform file; the members are what all steps need.
class Reader {
 public:
  explicit Reader(const std::string& path) : yaml_(ReadYaml(path)) {
    platform_.name = std::filesystem::path(path).stem().string();
  }

  Platform Read() {
    const std::vector<MapItem> items = ItemsOf(yaml_, yaml_.root, "");
    for (const MapItem& item : items) {
      if (item.key == kBase) ReadBase(item);
    }
    for (const MapItem& item : items) {
      if (item.key == kBase) continue;
      if (item.key == kLinkLayer) {
        platform_.link_layer = Word(item.value, item.key, {"infiniband", "roce"});
      } else if (item.key == kCaches) {
        ReadCaches(item.value);
      } else if (blocks_.contains(item.key)) {
        ReadBlock(item);
      } else {
        Fail(item.key_node, item.key, {"there is no such key", Suggestion(item.key, Blocks())});
      }
      seen_.insert(item.key);
    }
    RequireAll();
    return platform_;
  }

 private:
  [[noreturn]] void Fail(const YAML::Node& node, const std::string& key, const ValueError& error) {
    throw ConfigError(yaml_.At(node), key, error);
  }

  static std::set<std::string> MakeBlocks() {
    std::set<std::string> blocks;
    for (const ParameterInfo& info : sim::Parameters()) blocks.insert(BlockOf(info));
    return blocks;
  }

  std::vector<std::string> Blocks() const {
    std::vector<std::string> all(blocks_.begin(), blocks_.end());
    all.insert(all.end(), {kBase, kLinkLayer, kCaches});
    return all;
  }

  // Starts from another platform of the same folder, which has no base itself.
  void ReadBase(const MapItem& item) {
    const std::string name = ScalarOf(yaml_, item.value, kBase, "name a platform, such as p_ib");
    const std::string path = PlatformPath(name);
    if (!std::filesystem::exists(path)) {
      Fail(item.value, kBase,
           {fmt::format("there is no platform '{}'", name), Suggestion(name, PlatformNames())});
    }
    Reader reader(path);
    if (reader.yaml_.root[kBase]) {
      Fail(item.value, kBase, {fmt::format("{} has a base itself", name), "name that one"});
    }
    const std::string own_name = platform_.name;
    platform_ = reader.Read();
    platform_.name = own_name;
    seen_ = reader.seen_;
  }

  std::string Word(const YAML::Node& node, const std::string& key,
                   const std::vector<std::string>& words) {
    const std::string right = "use " + words[0] + " or " + words[1];
    const std::string text = ScalarOf(yaml_, node, key, right);
    for (const std::string& word : words) {
      if (text == word) return text;
    }
    Fail(node, key, {fmt::format("'{}' is not known", text), right});
  }

  void ReadBlock(const MapItem& block) {
    std::vector<std::string> names;
    for (const ParameterInfo& info : sim::Parameters()) {
      if (BlockOf(info) == block.key) names.push_back(info.key);
    }
    for (const MapItem& item : ItemsOf(yaml_, block.value, block.key)) {
      const std::string path = block.key + "." + item.key;
      const ParameterInfo* info = FindParameter(path);
      if (info == nullptr) {
        Fail(item.key_node, path, {"there is no such parameter", Suggestion(path, names)});
      }
      platform_.*(info->member) = ReadParameter(item.value, *info);
      seen_.insert(path);
    }
  }

  Parameter ReadParameter(const YAML::Node& node, const ParameterInfo& info) {
    if (!node.IsMap()) Fail(node, info.key, {"is not a map", FormOf(info)});
    Parameter parameter;
    std::set<std::string> given;
    for (const MapItem& item : ItemsOf(yaml_, node, info.key)) {
      given.insert(item.key);
      ReadField(item, info, parameter);
    }
    const bool in_parts = given.contains("cycles") || given.contains("time");
    if (given.contains("value") == in_parts) {
      Fail(node, info.key,
           {in_parts ? "has a value beside cycles or time" : "has no value", FormOf(info)});
    }
    for (const char* key : {"provenance", "source"}) {
      if (!given.contains(key)) {
        Fail(node, info.key, {fmt::format("has no {}", key), FormOf(info)});
      }
    }
    return parameter;
  }

  void ReadField(const MapItem& item, const ParameterInfo& info, Parameter& parameter) {
    const std::string path = std::string(info.key) + "." + item.key;
    const std::string text = ScalarOf(yaml_, item.value, path, FormOf(info));
    try {
      if (item.key == "provenance") {
        parameter.provenance = ParseProvenance(text);
      } else if (item.key == "source") {
        parameter.source = text;
        if (text.empty()) throw ValueError{"is empty", "say where the number comes from"};
      } else if (item.key == "value") {
        ParseNumberOf(text, info, parameter);
      } else if (item.key == "time" && info.unit == Unit::kTime) {
        parameter.ns = ParseQuantity(text, QuantityKind::kTime);
      } else if (item.key == "cycles" && info.unit == Unit::kTime) {
        if (!ParseNumber(text, parameter.cycles)) {
          throw ValueError{fmt::format("'{}' is not a number", text),
                           "give SM cycles, such as 120"};
        }
      } else {
        Fail(item.key_node, path, {"there is no such key", FormOf(info)});
      }
    } catch (const ValueError& error) {
      Fail(item.value, path, error);
    }
  }

  static Provenance ParseProvenance(const std::string& text) {
    constexpr Provenance kAll[] = {Provenance::kPaper, Provenance::kDatasheet,
                                   Provenance::kMeasured, Provenance::kFitted,
                                   Provenance::kAssumed};
    for (const Provenance provenance : kAll) {
      if (text == sim::NameOf(provenance)) return provenance;
    }
    throw ValueError{fmt::format("'{}' is not known", text),
                     "use paper, datasheet, measured, fitted or assumed"};
  }

  static void ParseNumberOf(const std::string& text, const ParameterInfo& info,
                            Parameter& parameter) {
    if (info.unit == Unit::kTime) {
      parameter.ns = ParseQuantity(text, QuantityKind::kTime);
      return;
    }
    if (info.unit != Unit::kCount) {
      parameter.value = ParseQuantity(text, KindOf(info.unit));
      const bool whole = parameter.value == std::floor(parameter.value);
      if (info.unit == Unit::kBytes && !whole) {
        throw ValueError{fmt::format("{} is not a whole number of bytes", text),
                         "give whole bytes"};
      }
    } else {
      uint64_t count = 0;
      if (!ParseWholeNumber(text, count)) {
        throw ValueError{fmt::format("'{}' is not a whole number", text), FormOf(info)};
      }
      parameter.value = static_cast<double>(count);
    }
    if (parameter.value == 0) throw ValueError{"is zero", FormOf(info)};
  }

  void ReadCaches(const YAML::Node& node) {
    for (const MapItem& item : ItemsOf(yaml_, node, kCaches)) {
      const std::string path = std::string(kCaches) + "." + item.key;
      if (item.key == "requester_context") {
        platform_.requester_context = ReadCache(item.value, path);
      } else if (item.key == "responder_context") {
        platform_.responder_context = ReadCache(item.value, path);
      } else {
        Fail(item.key_node, path,
             {"there is no such cache", "use requester_context or responder_context"});
      }
      seen_.insert(path);
    }
  }

  sim::CacheSpec ReadCache(const YAML::Node& node, const std::string& path) {
    constexpr char kForm[] = "give {model: infinite} or {model: lru, entries_count: 1024}";
    sim::CacheSpec cache;
    bool has_model = false;
    for (const MapItem& item : ItemsOf(yaml_, node, path)) {
      const std::string key = path + "." + item.key;
      if (item.key == "model") {
        cache.model = Word(item.value, key, {"infinite", "lru"});
        has_model = true;
      } else if (item.key == "entries_count") {
        const std::string text = ScalarOf(yaml_, item.value, key, kForm);
        if (!ParseWholeNumber(text, cache.entries_count) || cache.entries_count == 0) {
          Fail(item.value, key, {fmt::format("'{}' is not a count", text), kForm});
        }
      } else {
        Fail(item.key_node, key, {"there is no such key", kForm});
      }
    }
    if (!has_model) Fail(node, path, {"has no model", kForm});
    if ((cache.model == "lru") != (cache.entries_count > 0)) {
      Fail(node, path, {"only lru has entries_count, and needs it", kForm});
    }
    return cache;
  }

  void RequireAll() {
    const auto require = [this](const std::string& path, const std::string& form) {
      if (!seen_.contains(path)) {
        throw ConfigError({yaml_.file, 1, 1}, path, {"is not in this file", form});
      }
    };
    require(kLinkLayer, "use infiniband or roce");
    for (const ParameterInfo& info : sim::Parameters()) require(info.key, FormOf(info));
    require("caches.requester_context", "give {model: infinite}");
    require("caches.responder_context", "give {model: infinite}");
  }

  YamlText yaml_;
  Platform platform_;
  std::set<std::string> blocks_ = MakeBlocks();
  std::set<std::string> seen_;
};

std::string NumberText(const ParameterInfo& info, const Parameter& parameter) {
  if (info.unit == Unit::kTime) {
    return fmt::format("{} cycles {} ns", parameter.cycles, parameter.ns);
  }
  return fmt::format("{}", parameter.value);
}

std::string CacheText(const sim::CacheSpec& cache) {
  return fmt::format("{} {}", cache.model, cache.entries_count);
}

}  // namespace

sim::Platform LoadPlatform(const std::string& name) { return LoadPlatformFile(PlatformPath(name)); }

sim::Platform LoadPlatformFile(const std::string& path) { return Reader(path).Read(); }

std::string CanonicalText(const sim::Platform& platform) {
  std::string text = "link_layer: " + platform.link_layer + "\n";
  for (const ParameterInfo& info : sim::Parameters()) {
    text += fmt::format("{}: {}\n", info.key, NumberText(info, platform.*(info.member)));
  }
  text += "requester_context: " + CacheText(platform.requester_context) + "\n";
  text += "responder_context: " + CacheText(platform.responder_context) + "\n";
  return text;
}

std::set<std::string> ParametersOf(const std::vector<sim::Platform>& platforms,
                                   sim::Provenance provenance) {
  std::set<std::string> texts;
  for (const sim::Platform& platform : platforms) {
    for (const ParameterInfo& info : sim::Parameters()) {
      const Parameter& parameter = platform.*(info.member);
      if (parameter.provenance != provenance) continue;
      texts.insert(fmt::format("{}: {}", info.key, NumberText(info, parameter)));
    }
  }
  return texts;
}

}  // namespace ringpost::config
