#include "bench/refit/plan.h"

#include <algorithm>

#include "configs/schema/quantity.h"
#include "configs/schema/yaml_file.h"
#include "sim/cost/platform.h"

namespace ringpost::bench {
namespace {

using config::ConfigError;
using config::ItemsOf;
using config::MapItem;
using config::ScalarOf;
using config::YamlText;

class PlanReader {
 public:
  explicit PlanReader(const std::string& path) : yaml_(config::ReadYaml(path)) {}

  Plan Read() {
    Plan plan;
    for (const MapItem& item : ItemsOf(yaml_, yaml_.root, "")) {
      if (item.key == "covers") {
        plan.covers = Text(item);
      } else if (item.key == "stages") {
        for (const YAML::Node& node : item.value) plan.stages.push_back(ReadStage(node));
      } else {
        Unknown(item, "covers or stages");
      }
    }
    return plan;
  }

 private:
  [[noreturn]] void Unknown(const MapItem& item, const std::string& right) {
    throw ConfigError(yaml_.At(item.key_node), item.key, {"there is no such key", "use " + right});
  }

  std::string Text(const MapItem& item) {
    return ScalarOf(yaml_, item.value, item.key, "give a text");
  }

  double Number(const MapItem& item) {
    double number = 0;
    if (!config::ParseNumber(Text(item), number) || number <= 0) {
      throw ConfigError(yaml_.At(item.value), item.key, {"is no number above zero", "give one"});
    }
    return number;
  }

  std::vector<std::string> Texts(const MapItem& item) {
    std::vector<std::string> texts;
    for (const YAML::Node& node : item.value) {
      texts.push_back(ScalarOf(yaml_, node, item.key, "give a list of names"));
    }
    if (texts.empty()) {
      throw ConfigError(yaml_.At(item.value), item.key, {"is no list", "give [a, b]"});
    }
    return texts;
  }

  Stage ReadStage(const YAML::Node& node) {
    Stage stage;
    stage.position = yaml_.At(node);
    for (const MapItem& item : ItemsOf(yaml_, node, "stage")) {
      if (item.key == "rows") {
        stage.rows = Texts(item);
      } else if (item.key == "move") {
        for (const YAML::Node& move : item.value) stage.moves.push_back(ReadMove(move));
      } else if (item.key == "phases") {
        stage.phases = static_cast<uint32_t>(Number(item));
      } else {
        Unknown(item, "rows, move or phases");
      }
    }
    if (stage.rows.size() < stage.moves.size() || stage.moves.empty()) {
      throw ConfigError(stage.position, "stage",
                        {"has fewer rows than numbers to move", "give each number a row"});
    }
    return stage;
  }

  Move ReadMove(const YAML::Node& node) {
    Move move;
    for (const MapItem& item : ItemsOf(yaml_, node, "move")) {
      if (item.key == "platform") {
        move.platform = Text(item);
      } else if (item.key == "parameters") {
        move.parameters = Texts(item);
      } else if (item.key == "part") {
        move.in_cycles = Text(item) == "cycles";
      } else if (item.key == "from") {
        move.from = Number(item);
      } else if (item.key == "to") {
        move.to = Number(item);
      } else {
        Unknown(item, "platform, parameters, part, from or to");
      }
    }
    for (const std::string& key : move.parameters) {
      const auto& all = sim::Parameters();
      const bool known = std::any_of(all.begin(), all.end(), [&key](const auto& info) {
        return key == info.key && info.unit == sim::Unit::kTime;
      });
      if (!known) {
        throw ConfigError(yaml_.At(node), key, {"is no time of a platform", "name one"});
      }
    }
    return move;
  }

  const YamlText yaml_;
};

}  // namespace

Plan ReadPlan(const std::string& path) { return PlanReader(path).Read(); }

}  // namespace ringpost::bench
