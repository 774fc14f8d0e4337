#include "configs/schema/loader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "configs/schema/checks.h"
#include "configs/schema/library_loader.h"
#include "configs/schema/root.h"
#include "configs/schema/rules.h"
#include "configs/schema/schema.h"
#include "configs/schema/yaml_file.h"

namespace ringpost::config {
namespace {

constexpr char kEnvironment[] = "RINGPOST_SET";
constexpr char kOption[] = "--set";
constexpr char kLibrary[] = "library";
constexpr char kNoLibrary[] = "none";

// A key's value so far, and where it came from.
struct Setting {
  Value value;
  std::string origin = "default";
  Position position;
};
using Settings = std::map<std::string, Setting>;

const Key<Config>* FindKey(const std::string& path) {
  for (const Key<Config>& key : Keys()) {
    if (key.info.path == path) return &key;
  }
  return nullptr;
}

bool IsBlock(const std::string& path) {
  return std::any_of(Keys().begin(), Keys().end(), [&path](const Key<Config>& key) {
    return key.info.path.starts_with(path + ".");
  });
}

ValueError UnknownKey(const std::string& path) {
  const std::string wrong = "there is no such key";
  const std::string parent = path.substr(0, path.rfind('.') + 1);
  const std::string word = path.substr(parent.size());
  std::vector<std::string> paths;
  std::vector<std::string> siblings;
  for (const Key<Config>& key : Keys()) {
    const std::string& other = key.info.path;
    // The right word in the wrong block is likelier than two wrong letters.
    if (other.ends_with("." + word)) return {wrong, "did you mean " + other + "?"};
    paths.push_back(other);
    const std::string block = other.substr(0, other.find('.'));
    if (std::find(paths.begin(), paths.end(), block) == paths.end()) paths.push_back(block);
    if (!parent.empty() && other.starts_with(parent)) {
      siblings.push_back(other.substr(parent.size()));
    }
  }
  if (siblings.empty()) {
    const std::string suggestion = Suggestion(path, paths);
    const bool near = suggestion.starts_with("did you mean");
    return {wrong, near ? suggestion : "see configs/README.md for the keys"};
  }
  return {wrong, Suggestion(word, siblings)};
}

// The value names a file: of a platform, of a library.
void CheckFile(const std::string& what, const std::string& folder, const std::string& name,
               const std::vector<std::string>& names) {
  if (name.ends_with(".yaml")) {
    if (access(name.c_str(), R_OK) != 0) {
      throw ValueError{
          fmt::format("there is no file {}", name),
          fmt::format("give the path of a {} file, or a name of configs/{}", what, folder)};
    }
    return;
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw ValueError{fmt::format("there is no {} '{}'", what, name), Suggestion(name, names)};
  }
}

void CheckLibrary(const std::string& name) {
  std::vector<std::string> names = LibraryNames();
  names.push_back(kNoLibrary);
  CheckFile(kLibrary, "libraries", name, names);
}

Value ReadNames(const YamlText& yaml, const YAML::Node& node, const KeyInfo& key) {
  if (!node.IsSequence()) {
    throw ConfigError(yaml.At(node), key.path, {"is not a list", Expectation(key)});
  }
  Value value;
  for (const YAML::Node& item : node) {
    const std::string name = ScalarOf(yaml, item, key.path, Expectation(key));
    if (name.empty()) throw ConfigError(yaml.At(item), key.path, {"is empty", Expectation(key)});
    value.text += (value.names.empty() ? "" : ", ") + name;
    value.names.push_back(name);
  }
  value.text = "[" + value.text + "]";
  return value;
}

Value ReadValue(const YamlText& yaml, const YAML::Node& node, const KeyInfo& key) {
  if (key.type == Type::kRules) return ReadRules(yaml, node, key);
  if (key.type == Type::kNames) return ReadNames(yaml, node, key);
  const std::string text = ScalarOf(yaml, node, key.path, Expectation(key));
  try {
    if (key.path == "platform") CheckFile("platform", "platforms", text, PlatformNames());
    if (key.path == kLibrary) CheckLibrary(text);
    return ParseValue(key, text);
  } catch (const ValueError& error) {
    throw ConfigError(yaml.At(node), key.path, error);
  }
}

void ReadMap(const YamlText& yaml, const YAML::Node& map, const std::string& block,
             Settings& settings) {
  for (const MapItem& item : ItemsOf(yaml, map, block)) {
    const std::string path = block.empty() ? item.key : block + "." + item.key;
    const Key<Config>* key = FindKey(path);
    // A value that is not there has no place of its own.
    if (item.value.IsNull() && (key != nullptr || IsBlock(path))) {
      throw ConfigError(yaml.At(item.key_node), path,
                        {"has no value", key != nullptr ? Expectation(key->info)
                                                        : "write its keys below it, or remove it"});
    }
    if (key != nullptr) {
      const Position position = yaml.At(item.value);
      settings[path] = {ReadValue(yaml, item.value, key->info),
                        fmt::format("{}:{}", position.file, position.line), position};
    } else if (IsBlock(path)) {
      ReadMap(yaml, item.value, path, settings);
    } else {
      throw ConfigError(yaml.At(item.key_node), path, UnknownKey(path));
    }
  }
}

void Apply(const Assignment& assignment, Settings& settings) {
  const std::string& path = assignment.key;
  const Key<Config>* key = FindKey(path);
  if (key == nullptr) {
    const ValueError error =
        IsBlock(path) ? ValueError{"is a block of keys", "set one of its keys"} : UnknownKey(path);
    throw ConfigError(assignment.key_position, path, error);
  }
  const Position& place = assignment.value_position;
  if (assignment.value.find_first_not_of(' ') == std::string::npos) {
    throw ConfigError(place, path, {"has no value", Expectation(key->info)});
  }
  const YamlText yaml = ParseYamlOf(path, assignment.value, place);
  if (yaml.root.IsNull()) throw ConfigError(place, path, {"has no value", Expectation(key->info)});
  settings[path] = {ReadValue(yaml, yaml.root, key->info), place.file, place};
}

Assignment ParseAssignment(const std::string& text, const Position& start) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError(start, text.empty() ? "value" : text,
                      {"is not an assignment", "write key=value"});
  }
  Position value = start;
  value.column += static_cast<int>(equals) + 1;
  return {text.substr(0, equals), text.substr(equals + 1), start, value};
}

Settings Defaults() {
  Settings settings;
  for (const Key<Config>& key : Keys()) {
    Setting& setting = settings[key.info.path];
    setting.value.text = key.info.fallback;
    if (!IsList(key.info.type)) setting.value = ParseValue(key.info, key.info.fallback);
  }
  return settings;
}

Loaded Assemble(const Settings& settings) {
  Loaded loaded;
  for (const Key<Config>& key : Keys()) {
    const Setting& setting = settings.at(key.info.path);
    key.store(loaded.config, setting.value);
    loaded.effective.push_back({key.info.path, setting.value.text, setting.origin});
    if (setting.origin != "default") loaded.positions[key.info.path] = setting.position;
  }
  return loaded;
}

Library LibraryOf(const std::string& name) {
  return name == kNoLibrary ? Library() : LoadLibrary(name);
}

// Those of the library for the way in which this run's threads post.
void AddOperations(const Library& library, const Settings& settings, Loaded& loaded) {
  if (library.operations.empty()) return;
  const Config& config = loaded.config;
  const bool proxied = config.transport.path == TransportPath::kProxy;
  const std::string who(proxied ? NameOf(config.proxy.handoff)
                                : NameOf(config.transport.publication));
  const Position& place = settings.at(kLibrary).position;
  const auto found = library.operations.find(who);
  if (found == library.operations.end()) {
    std::vector<std::string> names;
    for (const auto& [name, lists] : library.operations) names.push_back(name);
    throw ConfigError(
        place, kLibrary,
        {fmt::format("{} has no operations for {}", config.library, who), "use " + Join(names)});
  }
  if (config.backend != Backend::kSim) {
    throw ConfigError(place, kLibrary,
                      {fmt::format("{} has operations beside the transport's, which are of virtual "
                                   "time alone",
                                   config.library),
                       "use backend: sim, or library: none"});
  }
  loaded.config.operations = found->second;
  for (EffectiveEntry& entry : loaded.effective) {
    if (entry.key == kLibrary) entry.content = CanonicalText(found->second);
  }
}

// Blames the first of the conflicting keys that somebody set.
[[noreturn]] void Refuse(const Conflict& conflict, const Settings& settings,
                         const std::string& file) {
  for (const std::string& key : conflict.keys) {
    const Setting& setting = settings.at(key);
    if (setting.origin != "default") throw ConfigError(setting.position, key, conflict.error);
  }
  throw ConfigError({file, 1, 1}, conflict.keys[0], conflict.error);
}

}  // namespace

Config DefaultConfig() { return Assemble(Defaults()).config; }

std::vector<Assignment> ParseEnvironment(const std::string& text) {
  std::vector<Assignment> assignments;
  size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string::npos) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (assignments.empty() || word.find('=') != std::string::npos) {
      assignments.push_back(ParseAssignment(word, {kEnvironment, 1, static_cast<int>(at) + 1}));
    } else {
      assignments.back().value += " " + word;
    }
    at = end;
  }
  return assignments;
}

Assignment ParseSet(const std::string& text, int number) {
  return ParseAssignment(text, {kOption, number, 1});
}

Loaded Load(const Sources& sources) {
  Settings own;  // what somebody asks for
  if (!sources.file.empty()) {
    const YamlText yaml = ReadYaml(sources.file);
    ReadMap(yaml, yaml.root, "", own);
  }
  for (const Assignment& assignment : sources.assignments) Apply(assignment, own);
  Settings settings = Defaults();
  Library library;
  if (const auto named = own.find(kLibrary); named != own.end()) {
    library = LibraryOf(named->second.value.text);
  }
  for (const Library::Preset& preset : library.presets) {
    ReadMap(preset.yaml, preset.keys, preset.block, settings);
  }
  for (auto& [key, setting] : own) settings[key] = std::move(setting);
  Loaded loaded = Assemble(settings);
  AddOperations(library, settings, loaded);
  if (const auto conflict = FindConflict(loaded.config)) {
    Refuse(*conflict, settings, sources.file);
  }
  return loaded;
}

std::string SetFromEnvironment() {
  const char* value = std::getenv(kEnvironment);
  return value == nullptr ? "" : value;
}

}  // namespace ringpost::config
