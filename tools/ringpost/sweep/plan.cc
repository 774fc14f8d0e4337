#include "tools/ringpost/sweep/plan.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "configs/schema/config_hash.h"
#include "configs/schema/yaml_file.h"
#include "tools/ringpost/experiment.h"

namespace ringpost::tools {
namespace {

using config::Assignment;
using config::ConfigError;
using config::MapItem;
using config::ValueError;

class PlanReader {
 public:
  explicit PlanReader(const std::string& path) : yaml_(config::ReadYaml(path)) {
    plan_.file = path;
  }

  Plan Read() {
    for (const MapItem& item : config::ItemsOf(yaml_, yaml_.root, "sweep")) ReadItem(item);
    if (plan_.experiment.empty()) {
      Fail(yaml_.root, "experiment", {"is not there", "name a file of configs/experiments"});
    }
    if (plan_.axes.empty()) {
      Fail(yaml_.root, "axes", {"are not there", "give keys with lists of values, or points"});
    }
    CheckCount();
    if (!plan_.x.empty() &&
        std::find(plan_.keys.begin(), plan_.keys.end(), plan_.x) == plan_.keys.end()) {
      Fail(x_node_, "plot.x", {plan_.x + " is no axis", config::Suggestion(plan_.x, plan_.keys)});
    }
    return std::move(plan_);
  }

 private:
  [[noreturn]] void Fail(const YAML::Node& node, const std::string& key, const ValueError& error) {
    throw ConfigError(yaml_.At(node), key, error);
  }

  void ReadItem(const MapItem& item) {
    const std::string& key = item.key;
    if (key == "experiment") {
      plan_.experiment = ExperimentPath(
          config::ScalarOf(yaml_, item.value, key, "name a file of configs/experiments"));
    } else if (key == "set") {
      const std::vector<Assignment> settings = ReadMap(item.value, key);
      plan_.set.insert(plan_.set.end(), settings.begin(), settings.end());
    } else if (key == "axes") {
      StartPoints(item);
      for (const MapItem& axis : config::ItemsOf(yaml_, item.value, key)) ReadAxis(axis);
    } else if (key == "points") {
      StartPoints(item);
      ReadPoints(item.value);
    } else if (key == "seeds") {
      ReadSeeds(item);
    } else if (key == "plot") {
      ReadPlot(item.value);
    } else {
      Fail(item.key_node, key,
           {"there is no such key",
            config::Suggestion(key, {"experiment", "set", "axes", "points", "seeds", "plot"})});
    }
  }

  void StartPoints(const MapItem& item) {
    if (!plan_.axes.empty()) Fail(item.key_node, item.key, {"stand beside the other", "use one"});
    points_node_.reset(item.value);
  }

  // Of a scalar its text, which may be a quantity; of a list or map its text on one line.
  std::string TextOf(const YAML::Node& node, const std::string& key) {
    if (node.IsScalar()) return node.Scalar();
    if (node.IsNull()) Fail(node, key, {"has no value", "give one"});
    YAML::Emitter text;
    text.SetSeqFormat(YAML::Flow);
    text.SetMapFormat(YAML::Flow);
    text << node;
    return text.c_str();
  }

  Assignment ReadValue(const std::string& key, const YAML::Node& key_node,
                       const YAML::Node& value) {
    if (key == "seed") Fail(key_node, key, {"is no axis", "list seeds under seeds"});
    return {key, TextOf(value, key), yaml_.At(key_node), yaml_.At(value)};
  }

  std::vector<Assignment> ReadMap(const YAML::Node& node, const std::string& path) {
    std::vector<Assignment> settings;
    for (const MapItem& item : config::ItemsOf(yaml_, node, path)) {
      settings.push_back(ReadValue(item.key, item.key_node, item.value));
    }
    return settings;
  }

  // "a, b" are two keys.
  static std::vector<std::string> KeysOf(const std::string& text) {
    std::vector<std::string> keys;
    size_t at = 0;
    while ((at = text.find_first_not_of(", ", at)) != std::string::npos) {
      const size_t end = std::min(text.find_first_of(", ", at), text.size());
      keys.push_back(text.substr(at, end - at));
      at = end;
    }
    return keys;
  }

  const YAML::Node& ListOf(const MapItem& item) {
    if (!item.value.IsSequence() || item.value.size() == 0) {
      Fail(item.value.IsNull() ? item.key_node : item.value, item.key,
           {item.value.IsSequence() ? "is empty" : "is not a list",
            "give values in brackets, such as [1, 2, 4]"});
    }
    return item.value;
  }

  void ReadAxis(const MapItem& item) {
    const std::vector<std::string> keys = KeysOf(item.key);
    if (keys.empty()) Fail(item.key_node, "axes", {"a key is empty", "name one"});
    for (const std::string& key : keys) AddKey(key, item.key_node);
    std::vector<std::vector<Assignment>> values;
    std::set<std::string> seen;
    for (const YAML::Node& value : ListOf(item)) {
      const bool each = keys.size() > 1 && value.IsSequence();  // each key has its own
      if (each && value.size() != keys.size()) {
        Fail(value, item.key,
             {fmt::format("{} values for {} keys", value.size(), keys.size()),
              "give one for all keys, or one for each in brackets"});
      }
      std::vector<Assignment> settings;
      for (size_t i = 0; i < keys.size(); ++i) {
        settings.push_back(ReadValue(keys[i], item.key_node, each ? value[i] : value));
      }
      const std::string text = TextOf(value, item.key);
      if (!seen.insert(text).second) {
        Fail(value, item.key, {fmt::format("{} stands here twice", text), "remove one of the two"});
      }
      values.push_back(std::move(settings));
    }
    plan_.axes.push_back(std::move(values));
  }

  void AddKey(const std::string& key, const YAML::Node& node) {
    if (std::find(plan_.keys.begin(), plan_.keys.end(), key) != plan_.keys.end()) {
      Fail(node, key, {"is an axis twice", "name it once"});
    }
    plan_.keys.push_back(key);
  }

  void ReadPoints(const YAML::Node& node) {
    if (!node.IsSequence() || node.size() == 0) {
      Fail(node, "points", {"is not a list of settings", "start each with '-'"});
    }
    std::vector<std::vector<Assignment>> points;
    for (const YAML::Node& point : node) {
      points.push_back(ReadMap(point, "points"));
      for (const Assignment& setting : points.back()) {
        if (std::find(plan_.keys.begin(), plan_.keys.end(), setting.key) == plan_.keys.end()) {
          plan_.keys.push_back(setting.key);
        }
      }
    }
    plan_.axes.push_back(std::move(points));
  }

  void ReadSeeds(const MapItem& item) {
    std::set<std::string> seen;
    for (const YAML::Node& seed : ListOf(item)) {
      const std::string text = config::ScalarOf(yaml_, seed, "seeds", "give whole numbers");
      if (!seen.insert(text).second) {
        Fail(seed, "seeds", {text + " stands here twice", "remove one of the two"});
      }
      plan_.seeds.push_back({"seed", text, yaml_.At(item.key_node), yaml_.At(seed)});
    }
  }

  void ReadPlot(const YAML::Node& node) {
    for (const MapItem& item : config::ItemsOf(yaml_, node, "plot")) {
      if (item.key == "x") {
        plan_.x = config::ScalarOf(yaml_, item.value, "plot.x", "name an axis");
        x_node_.reset(item.value);
      } else if (item.key == "metrics") {
        for (const YAML::Node& metric : ListOf(item)) {
          plan_.metrics.push_back(
              {config::ScalarOf(yaml_, metric, "plot.metrics", "name metrics of the run"),
               yaml_.At(metric)});
        }
      } else {
        Fail(item.key_node, "plot." + item.key, {"there is no such key", "use x or metrics"});
      }
    }
  }

  void CheckCount() {
    uint64_t count = std::max<uint64_t>(1, plan_.seeds.size());
    for (const auto& axis : plan_.axes) {
      // A product that does not fit 64 bits is too large long before.
      count = axis.size() > UINT64_MAX / count ? UINT64_MAX : count * axis.size();
    }
    if (count <= kMostPoints) return;
    const std::string points = count == UINT64_MAX ? "too many to count" : std::to_string(count);
    Fail(points_node_, "axes",
         {fmt::format("{} points, and a sweep has at most {}", points, kMostPoints),
          "give fewer values, or make several sweeps of it"});
  }

  const config::YamlText yaml_;
  Plan plan_;
  YAML::Node points_node_;
  YAML::Node x_node_;
};

// A setting for all points that is also an axis would be ignored.
void CheckSet(const Plan& plan) {
  for (const Assignment& setting : plan.set) {
    if (setting.key_position.file != plan.file) continue;
    if (std::find(plan.keys.begin(), plan.keys.end(), setting.key) != plan.keys.end()) {
      throw ConfigError(setting.key_position, setting.key,
                        {"is set, and is an axis", "remove one of the two"});
    }
  }
}

// Names the first value of `second` that is another text than that of `first`.
[[noreturn]] void RefuseSame(const Plan& plan, uint64_t first, uint64_t second) {
  const std::vector<Assignment> a = plan.SettingsOf(first), b = plan.SettingsOf(second);
  const Assignment whole{"points", "", {plan.file, 1, 1}, {plan.file, 1, 1}};
  const Assignment* named = b.size() > plan.set.size() ? &b[plan.set.size()] : &whole;
  std::string wrong = fmt::format("points {} and {} are the same run", first, second);
  for (size_t i = plan.set.size(); i < std::min(a.size(), b.size()); ++i) {
    if (a[i].key != b[i].key || a[i].value == b[i].value) continue;
    named = &b[i];
    wrong = fmt::format("{} is the same as {}", b[i].value, a[i].value);
    break;
  }
  throw ConfigError(named->value_position, named->key, {wrong, "remove one of the two"});
}

}  // namespace

uint64_t Plan::PointsCount() const {
  uint64_t count = std::max<uint64_t>(1, seeds.size());
  for (const auto& axis : axes) count *= axis.size();
  return count;
}

std::vector<Assignment> Plan::SettingsOf(uint64_t point) const {
  std::vector<const std::vector<Assignment>*> chosen(axes.size());
  std::vector<Assignment> settings = set;
  const uint64_t seeds_count = std::max<uint64_t>(1, seeds.size());
  uint64_t rest = point / seeds_count;
  for (size_t i = axes.size(); i-- > 0; rest /= axes[i].size()) {
    chosen[i] = &axes[i][rest % axes[i].size()];
  }
  for (const auto* values : chosen) settings.insert(settings.end(), values->begin(), values->end());
  if (!seeds.empty()) settings.push_back(seeds[point % seeds_count]);
  return settings;
}

Plan ReadPlan(const std::string& path) {
  Plan plan = PlanReader(path).Read();
  CheckSet(plan);
  const std::vector<Assignment> environment =
      config::ParseEnvironment(config::SetFromEnvironment());
  plan.set.insert(plan.set.begin(), environment.begin(), environment.end());
  return plan;
}

uint64_t ShapeOf(const config::Effective& effective) {
  std::string shape;
  for (const config::EffectiveEntry& entry : effective) {
    const bool matters = entry.key != "seed" && entry.key != "workload.operations" &&
                         entry.key != "workload.warm_up";
    if (matters) shape += entry.key + "=" + entry.value + "\n";
  }
  return config::HashOf(shape);
}

std::vector<SweepPoint> CheckPoints(const Plan& plan, const Checked& checked) {
  std::vector<SweepPoint> points;
  std::unordered_map<std::string, uint64_t> by_hash;
  Platforms platforms;
  for (uint64_t index = 0; index < plan.PointsCount(); ++index) {
    const Experiment experiment =
        LoadExperiment({plan.experiment, plan.SettingsOf(index)}, platforms);
    SweepPoint point;
    point.index = index;
    point.hash = experiment.hash;
    point.shape = ShapeOf(experiment.loaded.effective);
    point.unsafe = experiment.loaded.config.transport.unsafe;
    const auto [known, is_new] = by_hash.emplace(point.hash, index);
    if (!is_new) RefuseSame(plan, known->second, index);
    const auto effective = [&experiment](const std::string& key) {
      for (const config::EffectiveEntry& entry : experiment.loaded.effective) {
        if (entry.key == key) return entry.value;
      }
      return std::string();
    };
    for (const std::string& key : plan.keys) point.values.push_back(effective(key));
    point.seed = effective("seed");
    point.backend = effective("backend");
    point.platform = effective("platform");
    point.kind = effective("workload.kind");
    points.push_back(std::move(point));
    if (checked) checked(index + 1);
  }
  return points;
}

}  // namespace ringpost::tools
