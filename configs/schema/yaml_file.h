// yaml_file.h: YAML text with places, for those who report errors by file, line and column.
//
//   const YamlText yaml = ReadYaml("configs/quickstart.yaml");
//   for (const MapItem& item : ItemsOf(yaml, yaml.root, "")) ...
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/schema/config_error.h"

namespace ringpost::config {

// One document. `first_line` and `first_column` place a text that does not start its file.
struct YamlText {
  std::string file;
  YAML::Node root;
  int first_line = 1;
  int first_column = 1;

  Position At(const YAML::Node& node) const;
};

// The whole file as text; throws ConfigError when it cannot be read.
std::string ReadText(const std::string& path);

// One document, which must not be empty. Throws ConfigError for malformed YAML.
YamlText ReadYaml(const std::string& path);
YamlText ParseYaml(const std::string& text, const Position& start);

// The YAML of the value of `key`, which may be null. Throws ConfigError about that key.
YamlText ParseYamlOf(const std::string& key, const std::string& text, const Position& start);

struct MapItem {
  std::string key;
  YAML::Node key_node;
  YAML::Node value;
};

// The items of a map in the order of the file. `path` names the map in errors. Throws ConfigError
// when the node is no map, when a key is no scalar or when a key stands there twice.
std::vector<MapItem> ItemsOf(const YamlText& yaml, const YAML::Node& map, const std::string& path);

// The text of a scalar; throws ConfigError(`path`) with what would be `right` for anything else.
std::string ScalarOf(const YamlText& yaml, const YAML::Node& node, const std::string& path,
                     const std::string& right);

// "did you mean X?" for the candidate nearest to `word`, or else "use one of" all of them.
std::string Suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ringpost::config
