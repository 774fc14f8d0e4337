#include "configs/schema/platform_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "configs/schema/cache_reader.h"
#include "configs/schema/parameter_reader.h"
#include "configs/schema/platform_caches.h"
#include "configs/schema/quantity.h"
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

// Reads one platform file; the members are what all steps need.
class Reader {
 public:
  // `derived`: the files of which it is a base.
  explicit Reader(const std::string& path, std::set<std::string> derived = {})
      : yaml_(ReadYaml(path)), files_(std::move(derived)) {
    platform_.name = std::filesystem::path(path).stem().string();
    std::error_code error;
    files_.insert(std::filesystem::weakly_canonical(path, error).string());
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
      seen_[item.key] = yaml_.At(item.key_node);
    }
    RequireAll();
    return platform_;
  }

  // After Read.
  PlatformSource Source() const { return {base_, own_}; }

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

  // Starts from another platform.
  void ReadBase(const MapItem& item) {
    const std::string name = ScalarOf(yaml_, item.value, kBase, "name a platform, such as p_ib");
    const std::string path = PlatformPath(name);
    if (!std::filesystem::exists(path)) {
      Fail(item.value, kBase,
           {fmt::format("there is no platform '{}'", name), Suggestion(name, PlatformNames())});
    }
    std::error_code error;
    if (files_.contains(std::filesystem::weakly_canonical(path, error).string())) {
      Fail(item.value, kBase,
           {fmt::format("{} would be a base of itself", name), "name another platform"});
    }
    Reader reader(path, files_);
    const std::string own_name = platform_.name;
    platform_ = reader.Read();
    platform_.name = own_name;
    seen_ = reader.seen_;
    base_ = name;
  }

  void SawParameter(const std::string& path, const YAML::Node& node) {
    seen_[path] = yaml_.At(node);
    own_.insert(path);
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
      SawParameter(path, item.value);
    }
  }

  void ReadCaches(const YAML::Node& node) {
    for (const MapItem& item : ItemsOf(yaml_, node, kCaches)) {
      const std::string path = fmt::format("{}.{}", kCaches, item.key);
      if (item.key == kContext) {
        const CacheChoice choice = ReadCache(yaml_, item.value, path);
        platform_.context = choice.spec;
        platform_.requester_times = choice.times;
        platform_.responder_times = choice.times;
        SawParameter(path, item.value);
        continue;
      }
      const PlatformCache* cache = FindPlatformCache(item.key);
      if (cache == nullptr) {
        Fail(item.key_node, path,
             {"there is no such cache",
              "use requester_context, responder_context, context, mpt, mtt or wqe"});
      }
      const CacheChoice choice = cache->required ? ReadCache(yaml_, item.value, path)
                                                 : ReadTranslations(yaml_, item.value, path);
      platform_.*(cache->spec) = choice.spec;
      platform_.*(cache->times) = choice.times;
      SawParameter(path, item.value);
    }
  }

  void RequireAll() {
    const auto require = [this](const std::string& path, const std::string& form) {
      if (seen_.contains(path)) return;
      // In its block, if that is there.
      const auto block = seen_.find(path.substr(0, path.find('.')));
      const bool here = block != seen_.end() && block->second.file == yaml_.file;
      throw ConfigError(here ? block->second : Position{yaml_.file, 1, 1}, path,
                        {"is not in this file", form});
    };
    require(kLinkLayer, "use infiniband or roce");
    for (const ParameterInfo& info : sim::Parameters()) require(info.key, FormOf(info));
    for (const PlatformCache& cache : PlatformCaches()) {
      if (cache.required) require(PathOf(cache), "give {model: infinite}");
    }
    const std::string context = fmt::format("{}.{}", kCaches, kContext);
    platform_.has_shared_engine = seen_.contains(kSharedEngine) || seen_.contains(context);
    if (platform_.has_shared_engine) RequireShared(context, require);
    CheckTables();
  }

  template <class F>
  void RequireShared(const std::string& context, F require) {
    for (const ParameterInfo& info : sim::SharedEngineParameters()) require(info.key, FormOf(info));
    require(context, "give {model: infinite}");
    CheckShared();
  }

  // What must hold where both roles share a cache.
  void CheckShared() {
    for (const PlatformCache& cache : PlatformCaches()) {
      if (!cache.required || (platform_.*(cache.spec)).model == "infinite") continue;
      throw ConfigError(
          seen_.at(PathOf(cache)), PathOf(cache),
          {"stands beside caches.context, which both roles share", "give {model: infinite}"});
    }
    if (!platform_.context.blocks.empty()) {
      const std::string key = fmt::format("{}.{}", kCaches, kContext);
      throw ConfigError(seen_.at(key), key + ".blocks",
                        {"is of NICs without a shared engine, which fetches contexts ahead",
                         "leave it out; shared_engine.contexts_ahead says how many"});
    }
    CheckLines();
    const double packet = platform_.mtu.value + platform_.header_bytes.value;
    if (platform_.receive_buffer.value >= packet) return;
    constexpr char kBuffer[] = "shared_engine.receive_buffer";
    throw ConfigError(
        seen_.at(kBuffer), kBuffer,
        {fmt::format("{} has no room for one packet",
                     FormatQuantity(platform_.receive_buffer.value, QuantityKind::kBytes)),
         fmt::format("give at least {} B: link.mtu and link.header_bytes", packet)});
  }

  bool Has(const char* cache) const { return IsGiven(*FindPlatformCache(cache), platform_); }

  // What translations share must be there, and tell their entries from its own.
  void CheckTables() {
    for (const PlatformCache& cache : PlatformCaches()) {
      if (cache.required || !IsGiven(cache, platform_)) continue;
      const sim::CacheSpec& spec = platform_.*(cache.spec);
      if (&cache == FindPlatformCache("wqe")) CheckWqes();
      if (!spec.blocks.empty()) {
        throw ConfigError(seen_.at(PathOf(cache)), PathOf(cache) + ".blocks",
                          {"is of contexts", "give it to them"});
      }
      const bool is_shared = !spec.shares.empty();
      if (!is_shared) continue;
      const std::string key = PathOf(cache) + ".shares";
      const Position& place = seen_.at(PathOf(cache));
      const bool there = spec.shares == "mpt"       ? Has("mpt")
                         : spec.shares == "context" ? platform_.has_shared_engine
                                                    : !platform_.has_shared_engine;
      if (!there) {
        throw ConfigError(place, key,
                          {fmt::format("this platform has no {}", spec.shares),
                           "name a cache that it has, or give a model"});
      }
      constexpr uint64_t kLeastPage = 2 << 20;
      if (spec.page_bytes != 0 && spec.page_bytes < kLeastPage) {
        throw ConfigError(place, PathOf(cache) + ".page_size",
                          {"is too small for pages to be told apart in a cache of others",
                           "give 2 MiB or more, or a model"});
      }
    }
  }

  // The read of one takes what its home says, so that it has no times.
  void CheckWqes() {
    const sim::CacheSpec& spec = platform_.wqe;
    const bool plain = spec.model != "two_level" && spec.shares.empty() && spec.banks_count == 0 &&
                       spec.outstanding_misses_count == 0 && spec.prefetched_entries_count == 0 &&
                       TimesOf("", platform_.wqe_times).empty();
    if (plain) return;
    constexpr char kKey[] = "caches.wqe";
    throw ConfigError(seen_.at(kKey), kKey,
                      {"has what is of contexts and translations",
                       "give lru, fifo, random, set_associative or replay, and no options"});
  }

  // A line of a context is told from the others by eight bits. The key of this file that is the
  // largest is the one to blame.
  void CheckLines() {
    // Two more tell translations.
    const bool tables = Has("mpt") || Has("mtt");
    const double most_lines = tables ? 254 : 256;
    constexpr std::pair<const char*, Parameter Platform::*> kKinds[] = {
        {"shared_engine.requester_lines", &Platform::requester_lines},
        {"shared_engine.host_queue_lines", &Platform::host_queue_lines},
        {"shared_engine.responder_lines", &Platform::responder_lines}};
    double lines = 0, most = -1;
    const char* blamed = kKinds[0].first;
    for (const auto& [key, member] : kKinds) {
      const double its = (platform_.*member).value;
      lines += its;
      if (!own_.contains(key) || its <= most) continue;
      most = its;
      blamed = key;
    }
    if (lines <= most_lines) return;
    throw ConfigError(
        seen_.at(blamed), blamed,
        {fmt::format("makes {} lines in all with those of the other roles", lines),
         fmt::format("give fewer: requester, host queue and responder have {} together",
                     most_lines)});
  }

  YamlText yaml_;
  Platform platform_;
  std::set<std::string> blocks_ = MakeBlocks();
  std::set<std::string> files_;           // this one, and those of which it is a base
  std::map<std::string, Position> seen_;  // also in bases
  std::string base_;
  std::set<std::string> own_;  // of seen_, those of this file alone
};

}  // namespace

sim::Platform LoadPlatform(const std::string& name) { return LoadPlatformFile(PlatformPath(name)); }

sim::Platform LoadPlatformFile(const std::string& path) { return Reader(path).Read(); }

PlatformSource SourceOf(const std::string& name) {
  Reader reader(PlatformPath(name));
  reader.Read();
  return reader.Source();
}

}  // namespace ringpost::config
