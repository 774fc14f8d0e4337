#include "tools/ringpost/fit/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "configs/schema/platform_loader.h"
#include "configs/schema/quantity.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"
#include "sim/cost/platform.h"

namespace ringpost::tools {
namespace {

using config::ConfigError;
using config::ItemsOf;
using config::MapItem;
using config::ScalarOf;
using config::YamlText;

class PlanReader {
 public:
  explicit PlanReader(const std::string& path) : yaml_(config::ReadYaml(path)) {}

  FitPlan Read() {
    FitPlan plan;
    for (const MapItem& item : ItemsOf(yaml_, yaml_.root, "")) {
      if (item.key == "covers") {
        plan.covers = Expression(item);
      } else if (item.key == "stages") {
        for (const YAML::Node& node : ListOf(item)) plan.stages.push_back(ReadStage(node));
      } else {
        Unknown(item, {"covers", "stages"});
      }
    }
    if (plan.stages.empty()) {
      throw ConfigError(yaml_.At(yaml_.root), "stages",
                        {"are not there", "give rows, and what to move so that they are met"});
    }
    return plan;
  }

 private:
  [[noreturn]] void Unknown(const MapItem& item, const std::vector<std::string>& keys) {
    throw ConfigError(yaml_.At(item.key_node), item.key,
                      {"there is no such key", config::Suggestion(item.key, keys)});
  }

  std::string Text(const MapItem& item) {
    return ScalarOf(yaml_, item.value, item.key, "give a text");
  }

  std::string Expression(const MapItem& item) {
    try {
      const std::regex valid(Text(item));
    } catch (const std::regex_error&) {
      throw ConfigError(yaml_.At(item.value), item.key,
                        {"is not a regular expression", "give one over ids of rows"});
    }
    return Text(item);
  }

  double Number(const MapItem& item) {
    double number = 0;
    if (!config::ParseNumber(Text(item), number) || number <= 0) {
      throw ConfigError(yaml_.At(item.value), item.key, {"is no number above zero", "give one"});
    }
    return number;
  }

  uint32_t Phases(const MapItem& item) {
    constexpr double kMost = 1000;
    const double number = Number(item);
    if (number != std::floor(number) || number > kMost) {
      throw ConfigError(yaml_.At(item.value), item.key,
                        {"is no count of phases", "give 1 to 1000"});
    }
    return static_cast<uint32_t>(number);
  }

  const YAML::Node& ListOf(const MapItem& item) {
    if (!item.value.IsSequence() || item.value.size() == 0) {
      throw ConfigError(yaml_.At(item.value.IsNull() ? item.key_node : item.value), item.key,
                        {item.value.IsSequence() ? "is empty" : "is no list", "give a list"});
    }
    return item.value;
  }

  std::vector<std::string> Texts(const MapItem& item) {
    std::vector<std::string> texts;
    for (const YAML::Node& node : ListOf(item)) {
      texts.push_back(ScalarOf(yaml_, node, item.key, "give a list of names"));
    }
    return texts;
  }

  // A row that stands twice would pass for two.
  void CheckOnce(const MapItem& item) {
    std::set<std::string> seen;
    for (const YAML::Node& node : item.value) {
      if (seen.insert(node.Scalar()).second) continue;
      throw ConfigError(yaml_.At(node), node.Scalar(),
                        {"stands here twice", "remove one of the two"});
    }
  }

  FitStage ReadStage(const YAML::Node& node) {
    FitStage stage;
    stage.position = yaml_.At(node);
    for (const MapItem& item : ItemsOf(yaml_, node, "stage")) {
      if (item.key == "rows") {
        stage.rows = Texts(item);
        stage.position = yaml_.At(item.value);
        CheckOnce(item);
      } else if (item.key == "move") {
        for (const YAML::Node& move : ListOf(item)) stage.moves.push_back(ReadMove(move));
      } else if (item.key == "phases") {
        stage.phases = Phases(item);
      } else {
        Unknown(item, {"rows", "move", "phases"});
      }
    }
    if (stage.moves.empty()) {
      throw ConfigError(yaml_.At(node), "move", {"is not there", "name parameters and bounds"});
    }
    if (stage.rows.size() < stage.moves.size()) {
      throw ConfigError(stage.position, "rows",
                        {"are fewer than the numbers to move", "give each number a row"});
    }
    return stage;
  }

  Move ReadMove(const YAML::Node& node) {
    Move move;
    move.position = yaml_.At(node);
    std::vector<YAML::Node> parameters;
    for (const MapItem& item : ItemsOf(yaml_, node, "move")) {
      if (item.key == "platform") {
        move.platform = ReadPlatform(item);
      } else if (item.key == "parameters") {
        move.parameters = Texts(item);
        for (const YAML::Node& name : item.value) parameters.push_back(name);
      } else if (item.key == "part") {
        move.in_cycles = IsCycles(item);
      } else if (item.key == "from") {
        move.from = Number(item);
      } else if (item.key == "to") {
        move.to = Number(item);
      } else {
        Unknown(item, {"platform", "parameters", "part", "from", "to"});
      }
    }
    if (move.platform.empty() || move.parameters.empty()) {
      throw ConfigError(move.position, move.platform.empty() ? "platform" : "parameters",
                        {"is not there", "say which numbers of which platform may move"});
    }
    for (const YAML::Node& name : parameters) CheckParameter(name, move.platform);
    if (move.from >= move.to) {
      throw ConfigError(move.position, "from",
                        {fmt::format("{} is not below to, {}", move.from, move.to),
                         "give the lower bound first"});
    }
    CheckMovedOnce(move);
    return move;
  }

  std::string ReadPlatform(const MapItem& item) {
    const std::vector<std::string> names = config::PlatformNames();
    const std::string name = Text(item);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw ConfigError(
          yaml_.At(item.value), item.key,
          {fmt::format("there is no platform '{}'", name), config::Suggestion(name, names)});
    }
    return name;
  }

  bool IsCycles(const MapItem& item) {
    const std::string text = Text(item);
    if (text != "cycles" && text != "time") {
      throw ConfigError(yaml_.At(item.value), item.key,
                        {fmt::format("'{}' is no part of a cost", text), "use cycles or time"});
    }
    return text == "cycles";
  }

  void CheckParameter(const YAML::Node& node, const std::string& platform) {
    std::vector<std::string> times, shared;
    for (const sim::ParameterInfo& info : sim::Parameters()) {
      if (info.unit == sim::Unit::kTime) times.emplace_back(info.key);
    }
    for (const sim::ParameterInfo& info : sim::SharedEngineParameters()) {
      if (info.unit == sim::Unit::kTime) shared.emplace_back(info.key);
    }
    const std::string key = node.Scalar();
    const bool is_shared = std::find(shared.begin(), shared.end(), key) != shared.end();
    if (config::LoadPlatform(platform).has_shared_engine) {
      times.insert(times.end(), shared.begin(), shared.end());
    } else if (is_shared) {
      throw ConfigError(yaml_.At(node), key,
                        {fmt::format("{} has no shared engine", platform),
                         "move a time that it has, or another platform"});
    }
    if (std::find(times.begin(), times.end(), key) == times.end()) {
      throw ConfigError(yaml_.At(node), key,
                        {"is no time of a platform", config::Suggestion(key, times)});
    }
  }

  void CheckMovedOnce(const Move& move) {
    for (const std::string& key : move.parameters) {
      if (!moved_.insert(move.platform + " " + key).second) {
        throw ConfigError(move.position, key, {"is moved twice", "move it in one stage"});
      }
    }
  }

  std::set<std::string> moved_;
  const YamlText yaml_;
};

}  // namespace

FitPlan ReadFitPlan(const std::string& path) { return PlanReader(path).Read(); }

std::vector<std::string> MovedPlatforms(const FitPlan& plan) {
  std::vector<std::string> names;
  for (const FitStage& stage : plan.stages) {
    for (const Move& move : stage.moves) {
      if (std::find(names.begin(), names.end(), move.platform) == names.end()) {
        names.push_back(move.platform);
      }
    }
  }
  return names;
}

}  // namespace ringpost::tools
