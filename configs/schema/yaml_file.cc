#include "configs/schema/yaml_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "configs/schema/schema.h"

namespace ringpost::config {
namespace {

// Larger files are mistakes, and would take long to parse.
constexpr uintmax_t kMaxFileBytes = 4 << 20;

// How many insertions, deletions and replacements turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// yaml-cpp's words, in one line.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Position YamlText::At(const YAML::Node& node) const {
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return {file, first_line, first_column};
  return {file, first_line + mark.line,
          mark.line == 0 ? first_column + mark.column : mark.column + 1};
}

std::string ReadText(const std::string& path) {
  const Position start{path, 1, 1};
  const auto fail = [&start](const std::string& why) {
    throw ConfigError(start, "file", {why, "give the path of a YAML file that can be read"});
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail("is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(fmt::format("cannot be read ({})", std::strerror(errno)));
  std::string text;
  char block[65536];
  while (file.read(block, sizeof block), file.gcount() > 0) {
    text.append(block, static_cast<size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) fail("is longer than 4 MiB");
  }
  return text;
}

YamlText ReadYaml(const std::string& path) { return ParseYaml(ReadText(path), {path, 1, 1}); }

YamlText ParseYaml(const std::string& text, const Position& start) {
  YamlText yaml = ParseYamlOf("YAML", text, start);
  if (yaml.root.IsNull()) {
    throw ConfigError(start, "YAML", {"there is nothing in it", "give at least one key"});
  }
  return yaml;
}

YamlText ParseYamlOf(const std::string& key, const std::string& text, const Position& start) {
  YamlText yaml{start.file, YAML::Node(), start.line, start.column};
  try {
    std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      throw ConfigError(yaml.At(documents[1]), key,
                        {"a second document starts here", "keep one document in a file"});
    }
    if (!documents.empty()) yaml.root = documents[0];
  } catch (const YAML::Exception& error) {
    Position place = start;
    if (!error.mark.is_null()) {
      place.line += error.mark.line;
      place.column =
          error.mark.line == 0 ? start.column + error.mark.column : error.mark.column + 1;
    }
    throw ConfigError(
        place, key,
        {"cannot be parsed: " + OneLine(error.msg), "complete or correct the YAML up to here"});
  }
  return yaml;
}

std::vector<MapItem> ItemsOf(const YamlText& yaml, const YAML::Node& map, const std::string& path) {
  const std::string name = path.empty() ? "file" : path;
  if (!map.IsMap()) {
    throw ConfigError(yaml.At(map), name,
                      {"is not a map of keys", "write key: value pairs below it"});
  }
  std::vector<MapItem> items;
  std::set<std::string> seen;
  for (const auto& pair : map) {
    if (!pair.first.IsScalar()) {
      throw ConfigError(yaml.At(pair.first), name,
                        {"a key is not a word", "write key: value pairs"});
    }
    const std::string key = pair.first.Scalar();
    if (!seen.insert(key).second) {
      throw ConfigError(yaml.At(pair.first), path.empty() ? key : path + "." + key,
                        {"stands here twice", "remove one of the two"});
    }
    items.push_back({key, pair.first, pair.second});
  }
  return items;
}

std::string ScalarOf(const YamlText& yaml, const YAML::Node& node, const std::string& path,
                     const std::string& right) {
  if (node.IsScalar()) return node.Scalar();
  const char* wrong = node.IsMap() ? "is a map" : node.IsNull() ? "has no value" : "is a list";
  throw ConfigError(yaml.At(node), path, {wrong, right});
}

std::string Suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* nearest = nullptr;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = &candidate;
    }
  }
  if (nearest != nullptr) return fmt::format("did you mean {}?", *nearest);
  return "use " + Join(candidates);
}

}  // namespace ringpost::config
