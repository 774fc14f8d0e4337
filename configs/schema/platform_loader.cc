#include "configs/schema/platform_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "configs/schema/cache_reader.h"
#include "configs/schema/parameter_reader.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"

namespace ringpost::config {
namespace {

constexpr char kBase[] = "base";
constexpr char kCaches[] = "caches";
constexpr char kLinkLayer[] = "link_layer";
constexpr char kSharedEngine[] = "shared_engine";
constexpr char kContext[] = "context";

using sim::Parameter;
using sim::ParameterInfo;
using sim::Platform;
using sim::Provenance;

const std::vector<ParameterInfo>& AllParameters() {
  static const std::vector<ParameterInfo> all = [] {
    std::vector<ParameterInfo> rows = sim::Parameters();
    const std::vector<ParameterInfo>& shared = sim::SharedEngineParameters();
    rows.insert(rows.end(), shared.begin(), shared.end());
    return rows;
  }();
  return all;
}

// Those that the platform has.
const std::vector<ParameterInfo>& ParametersOf(const Platform& platform) {
  return platform.has_shared_engine ? AllParameters() : sim::Parameters();
}

const ParameterInfo* FindParameter(const std::string& path) {
  for (const ParameterInfo& info : AllParameters()) {
    if (path == info.key) return &info;
  }
  return nullptr;
}

std::string BlockOf(const ParameterInfo& info) {
  const std::string key = info.key;
  return key.substr(0, key.find('.'));
}

// The cache of one kind of NIC state.
struct Cache {
  const char* key;  // under `caches`
  sim::CacheSpec Platform::*spec;
  Parameter Platform::*second_level_hit;
};

constexpr Cache kCacheKeys[] = {
    {"requester_context", &Platform::requester_context, &Platform::requester_second_level_hit},
    {"responder_context", &Platform::responder_context, &Platform::responder_second_level_hit},
};

std::string PathOf(const Cache& cache) { return fmt::format("{}.{}", kCaches, cache.key); }

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
    for (const ParameterInfo& info : AllParameters()) blocks.insert(BlockOf(info));
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
    for (const ParameterInfo& info : AllParameters()) {
      if (BlockOf(info) == block.key) names.push_back(info.key);
    }
    for (const MapItem& item : ItemsOf(yaml_, block.value, block.key)) {
      const std::string path = block.key + "." + item.key;
      const ParameterInfo* info = FindParameter(path);
      if (info == nullptr) {
        Fail(item.key_node, path, {"there is no such parameter", Suggestion(path, names)});
      }
      platform_.*(info->member) = ReadParameter(yaml_, item.value, *info);
      seen_.insert(path);
    }
  }

  void ReadCaches(const YAML::Node& node) {
    for (const MapItem& item : ItemsOf(yaml_, node, kCaches)) {
      const std::string path = fmt::format("{}.{}", kCaches, item.key);
      if (item.key == kContext) {
        const CacheChoice choice = ReadCache(yaml_, item.value, path);
        platform_.context = choice.spec;
        platform_.requester_second_level_hit = choice.second_level_hit;
        platform_.responder_second_level_hit = choice.second_level_hit;
        seen_.insert(path);
        continue;
      }
      const auto cache = std::find_if(std::begin(kCacheKeys), std::end(kCacheKeys),
                                      [&](const Cache& one) { return item.key == one.key; });
      if (cache == std::end(kCacheKeys)) {
        Fail(item.key_node, path,
             {"there is no such cache", "use requester_context, responder_context or context"});
      }
      const CacheChoice choice = ReadCache(yaml_, item.value, path);
      platform_.*(cache->spec) = choice.spec;
      platform_.*(cache->second_level_hit) = choice.second_level_hit;
      seen_.insert(path);
    }
  }

  void RequireAll() {
    const auto require = [this](const std::string& path, const std::string& form) {
      if (!seen_.contains(path)) {
        throw ConfigError({yaml_.file, 1, 1}, path, {"is not in this file", form});
      }
    };
    require(kLinkLayer, "use infiniband or roce");
    for (const ParameterInfo& info : sim::Parameters()) require(info.key, FormOf(info));
    for (const Cache& cache : kCacheKeys) require(PathOf(cache), "give {model: infinite}");
    const std::string context = fmt::format("{}.{}", kCaches, kContext);
    platform_.has_shared_engine = seen_.contains(kSharedEngine) || seen_.contains(context);
    if (!platform_.has_shared_engine) return;
    for (const ParameterInfo& info : sim::SharedEngineParameters()) require(info.key, FormOf(info));
    require(context, "give {model: infinite}");
    CheckShared();
  }

  // What must hold where both roles share a cache.
  void CheckShared() {
    for (const Cache& cache : kCacheKeys) {
      if ((platform_.*(cache.spec)).model == "infinite") continue;
      throw ConfigError(
          {yaml_.file, 1, 1}, PathOf(cache),
          {"stands beside the context cache of both roles", "give {model: infinite}"});
    }
    constexpr double kMostLines = 256;
    const double lines = platform_.requester_lines.value + platform_.host_queue_lines.value +
                         platform_.responder_lines.value;
    if (lines <= kMostLines) return;
    throw ConfigError({yaml_.file, 1, 1}, "shared_engine.requester_lines",
                      {fmt::format("with those of host queues and responders makes {}", lines),
                       fmt::format("use at most {} in all", kMostLines)});
  }

  YamlText yaml_;
  Platform platform_;
  std::set<std::string> blocks_ = MakeBlocks();
  std::set<std::string> seen_;
};

}  // namespace

sim::Platform LoadPlatform(const std::string& name) { return LoadPlatformFile(PlatformPath(name)); }

sim::Platform LoadPlatformFile(const std::string& path) { return Reader(path).Read(); }

std::string CanonicalText(const sim::Platform& platform) {
  std::string text = "link_layer: " + platform.link_layer + "\n";
  for (const ParameterInfo& info : ParametersOf(platform)) {
    text += fmt::format("{}: {}\n", info.key, NumberText(info, platform.*(info.member)));
  }
  for (const Cache& cache : kCacheKeys) {
    const CacheChoice choice{platform.*(cache.spec), platform.*(cache.second_level_hit)};
    text += fmt::format("{}: {}\n", cache.key, CacheText(choice));
  }
  if (platform.has_shared_engine) {
    const CacheChoice choice{platform.context, platform.requester_second_level_hit};
    text += fmt::format("{}: {}\n", kContext, CacheText(choice));
  }
  return text;
}

std::set<std::string> ParametersOf(const std::vector<sim::Platform>& platforms,
                                   sim::Provenance provenance) {
  std::set<std::string> texts;
  for (const sim::Platform& platform : platforms) {
    for (const ParameterInfo& info : ParametersOf(platform)) {
      const Parameter& parameter = platform.*(info.member);
      if (parameter.provenance != provenance) continue;
      texts.insert(fmt::format("{}: {}", info.key, NumberText(info, parameter)));
    }
    for (const Cache& cache : kCacheKeys) {
      const Parameter& hit = platform.*(cache.second_level_hit);
      if ((platform.*(cache.spec)).model != "two_level" || hit.provenance != provenance) continue;
      texts.insert(SecondLevelText(PathOf(cache), hit));
    }
  }
  return texts;
}

}  // namespace ringpost::config
