#include "configs/schema/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ringpost::config {
namespace {

constexpr char kUsualSyndrome[] = "local_qp_operation";

using Texts = std::map<std::string, std::string>;  // canonical, by path within a rule

const Key<FaultRule>* FindRuleKey(const std::string& path) {
  for (const Key<FaultRule>& key : RuleKeys()) {
    if (key.info.path == path) return &key;
  }
  return nullptr;
}

std::vector<std::string> RulePaths() {
  std::vector<std::string> paths;
  for (const Key<FaultRule>& key : RuleKeys()) paths.push_back(key.info.path);
  return paths;
}

// `name` is the path of the rule for messages: faults.rules[0].
void ReadRule(const YamlText& yaml, const YAML::Node& map, const std::string& name,
              const std::string& block, FaultRule& rule, Texts& texts) {
  for (const MapItem& item : ItemsOf(yaml, map, block.empty() ? name : name + "." + block)) {
    const std::string path = block.empty() ? item.key : block + "." + item.key;
    if (path == "at") {
      ReadRule(yaml, item.value, name, path, rule, texts);
      continue;
    }
    const Key<FaultRule>* key = FindRuleKey(path);
    const std::string full = name + "." + path;
    if (key == nullptr) {
      throw ConfigError(yaml.At(item.key_node), full,
                        {"there is no such key", Suggestion(path, RulePaths())});
    }
    const std::string text = ScalarOf(yaml, item.value, full, Expectation(key->info));
    try {
      const Value value = ParseValue(key->info, text);
      key->store(rule, value);
      texts[path] = value.text;
    } catch (const ValueError& error) {
      throw ConfigError(yaml.At(item.value), full, error);
    }
  }
}

std::string RuleText(const Texts& texts) {
  return fmt::format(
      "{{where: {}, kind: {}, at: {{rank: {}, qp: {}, wqe: {}}}, amount: {}, probability: {}, "
      "count: {}{}}}",
      texts.at("where"), texts.at("kind"), texts.at("at.rank"), texts.at("at.qp"),
      texts.at("at.wqe"), texts.at("amount"), texts.at("probability"), texts.at("count"),
      // Younger than the others: rules without it have the text, and hash, that they had.
      texts.at("syndrome") == kUsualSyndrome ? "" : ", syndrome: " + texts.at("syndrome"));
}

// What may happen where.
const std::vector<std::string>& KindsAt(const std::string& where) {
  static const std::map<std::string, std::vector<std::string>> kinds = {
      {"responder", {"delay", "error"}},
      {"requester", {"delay", "error"}},
      {"wire", {"delay", "drop", "duplicate", "reorder", "corrupt", "link_down"}},
      {"doorbell", {"delay", "drop", "duplicate"}},
      {"cqe", {"delay", "duplicate"}},
      {"fetch", {"pause"}}};
  return kinds.at(where);
}

bool NeedsAmount(const std::string& kind) {
  return kind == "delay" || kind == "reorder" || kind == "pause" || kind == "link_down";
}

// What must hold between the keys of a rule; a complaint has the place of the rule's own value.
void CheckRule(const YamlText& yaml, const YAML::Node& map, const std::string& name,
               const Texts& texts) {
  const auto complain = [&](const char* key, const ValueError& error) {
    const YAML::Node at = map[key].IsDefined() ? map[key] : map;
    throw ConfigError(yaml.At(at), name + "." + key, error);
  };
  const std::string& where = texts.at("where");
  const std::string& kind = texts.at("kind");
  const std::vector<std::string>& kinds = KindsAt(where);
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    complain("kind", {fmt::format("{} does not happen at {}", kind, where), "use " + Join(kinds)});
  }
  if (NeedsAmount(kind) && texts.at("amount") == "0 ns") {
    complain("amount", {fmt::format("a {} has no amount", kind), "add an amount such as 50 us"});
  }
  if (kind != "error" && texts.at("syndrome") != kUsualSyndrome) {
    complain("syndrome", {fmt::format("a {} has none", kind), "leave it out, or use kind error"});
  }
  const bool plain = texts.at("probability") == "100 %" && texts.at("count") == "any";
  if (kind == "error" && !plain) {
    const bool counted = texts.at("count") != "any";
    complain(counted ? "count" : "probability",
             {"an error happens once, to the WQE that at.wqe names", "leave this key out"});
  }
}

}  // namespace

Value ReadRules(const YamlText& yaml, const YAML::Node& node, const KeyInfo& key) {
  if (!node.IsSequence()) {
    throw ConfigError(yaml.At(node), key.path, {"is not a list", Expectation(key)});
  }
  Value value;
  value.text = "[";
  for (size_t i = 0; i < node.size(); ++i) {
    FaultRule rule;
    Texts texts;
    for (const Key<FaultRule>& rule_key : RuleKeys()) {
      const Value fallback = ParseValue(rule_key.info, rule_key.info.fallback);
      rule_key.store(rule, fallback);
      texts[rule_key.info.path] = fallback.text;
    }
    ReadRule(yaml, node[i], fmt::format("{}[{}]", key.path, i), "", rule, texts);
    CheckRule(yaml, node[i], fmt::format("{}[{}]", key.path, i), texts);
    value.rules.push_back(rule);
    value.text += (i > 0 ? ", " : "") + RuleText(texts);
  }
  value.text += "]";
  return value;
}

}  // namespace ringpost::config
