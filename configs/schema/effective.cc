// Printing an effective configuration.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "configs/schema/loader.h"

namespace ringpost::config {
namespace {

// Text that YAML would read as something else is quoted.
std::string Quoted(const std::string& value) {
  const bool plain =
      value.starts_with('[') || value.find_first_of("#:{}[],&*!|>'\"%@`\n") == std::string::npos;
  if (plain) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace

std::string ToYaml(const Effective& effective) {
  std::vector<std::string> lines;
  std::string block;
  size_t width = 0;
  for (const EffectiveEntry& entry : effective) {
    const size_t dot = entry.key.find('.');
    const std::string in = dot == std::string::npos ? "" : entry.key.substr(0, dot);
    if (in != block && !in.empty()) lines.push_back(in + ":");
    block = in;
    const std::string key = dot == std::string::npos ? entry.key : entry.key.substr(dot + 1);
    lines.push_back(fmt::format("{}{}: {}", in.empty() ? "" : "  ", key, Quoted(entry.value)));
    width = std::max(width, std::min<size_t>(lines.back().size(), 48));
  }
  std::string text;
  auto entry = effective.begin();
  for (const std::string& line : lines) {
    if (line.ends_with(':')) {
      text += line + "\n";
    } else {
      text += fmt::format("{:<{}}  # {}\n", line, width, (entry++)->origin);
    }
  }
  return text;
}

std::string CanonicalText(const Effective& effective) {
  std::string text;
  for (const EffectiveEntry& entry : effective) {
    text += entry.key + ": " + entry.value + "\n" + entry.content;
  }
  return text;
}

}  // namespace ringpost::config
