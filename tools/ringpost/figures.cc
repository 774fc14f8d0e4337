#include "tools/ringpost/figures.h"

#include <fmt/format.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "configs/schema/quantity.h"
#include "configs/schema/yaml_file.h"
#include "tools/ringpost/experiment.h"
#include "tools/ringpost/tolerance.h"

namespace ringpost::tools {
namespace {

using config::ConfigError;
using config::MapItem;
using config::ValueError;
using config::YamlText;

constexpr char kMayVary[] =
    "name workload.*, transport.*, proxy.*, library, gpu.sm_clock, host.clock_state or ranks";

// Reads one row; its members are what all fields need.
class RowReader {
 public:
  RowReader(const YamlText& yaml, const YAML::Node& node) : yaml_(yaml), node_(node) {}

  FigureRow Read() {
    row_.position = yaml_.At(node_);
    for (const MapItem& item : config::ItemsOf(yaml_, node_, "row")) ReadField(item);
    for (const auto& [key, text] : {std::pair{"id", &row_.id},
                                    {"platform", &row_.platform},
                                    {"value", &row_.published},
                                    {"source", &row_.source}}) {
      if (text->empty()) Fail(node_, "row", {fmt::format("has no {}", key), "add one"});
    }
    if (row_.table.empty()) row_.table = row_.source.substr(row_.source.find(' ') + 1);
    Finish();
    return row_;
  }

 private:
  [[noreturn]] void Fail(const YAML::Node& node, const std::string& key, const ValueError& error) {
    throw ConfigError(yaml_.At(node), row_.id.empty() || key == "row" ? key : row_.id + "." + key,
                      error);
  }

  std::string Text(const MapItem& item) {
    return config::ScalarOf(yaml_, item.value, row_.id + "." + item.key, "give a text");
  }

  double Number(const YAML::Node& node, const std::string& key) {
    double number = 0;
    const std::string text = config::ScalarOf(yaml_, node, row_.id + "." + key, "give a number");
    // Differences may be negative, which a bare quantity may not.
    const bool negative = text.starts_with('-');
    if (!config::ParseNumber(std::string_view(text).substr(negative ? 1 : 0), number)) {
      Fail(node, key, {fmt::format("'{}' is not a number", text), "give a number"});
    }
    return negative ? -number : number;
  }

  double Percent(const MapItem& item) {
    try {
      return config::ParseQuantity(Text(item), config::QuantityKind::kPercent);
    } catch (const ValueError& error) {
      Fail(item.value, item.key, error);
    }
  }

  bool IsTrue(const MapItem& item) {
    const std::string text = Text(item);
    if (text != "true" && text != "false") {
      Fail(item.value, item.key, {fmt::format("'{}' is neither", text), "use true or false"});
    }
    return text == "true";
  }

  void ReadField(const MapItem& item) {
    const std::string& key = item.key;
    const auto texts = {std::pair{"id", &row_.id},    {"system", &row_.system},
                        {"platform", &row_.platform}, {"unit", &row_.unit},
                        {"source", &row_.source},     {"table", &row_.table},
                        {"role", &row_.role},         {"metric", &row_.metric},
                        {"note", &row_.note},         {"value_of", &row_.value_of}};
    for (const auto& [name, field] : texts) {
      if (key == name) {
        *field = Text(item);
        return;
      }
    }
    if (key == "experiment") {
      row_experiment_ = ExperimentFile(item);
      return;
    }
    if (key == "value") return ReadValue(item.value);
    if (key == "value_range") return ReadRange(item.value, key);
    if (key == "tolerance") row_.tolerance = Percent(item) / 100;
    if (key == "set") assignments_ = ReadSet(item.value);
    if (key == "runs") ReadRuns(item.value);
    if (key == "sweep") sweep_ = item.value;
    ReadShape(item);
    static const std::set<std::string> known = {
        "tolerance", "set",  "runs",       "sweep",      "rank",         "flat",    "falls",
        "linear_in", "kind", "conditions", "latency_us", "goodput_gb_s", "at_least"};
    if (!known.contains(key)) {
      Fail(item.key_node, key,
           {"there is no such key",
            config::Suggestion(key, std::vector<std::string>(known.begin(), known.end()))});
    }
  }

  void ReadShape(const MapItem& item) {
    FigureShape& shape = row_.shape;
    if (item.key == "flat") shape.flat_percent = Percent(item);
    if (item.key == "at_least") shape.at_least = Number(item.value, item.key);
    if (item.key == "falls") shape.falls = IsTrue(item);
    if (item.key == "linear_in") shape.linear = !Text(item).empty();
    if (item.key == "rank") {
      if (!item.value.IsSequence()) {
        Fail(item.value, item.key, {"is not a list", "give names of runs, such as [a, b]"});
      }
      for (const YAML::Node& name : item.value) {
        shape.rank.push_back(
            config::ScalarOf(yaml_, name, row_.id + ".rank", "give the name of a run"));
      }
    }
  }

  void ReadValue(const YAML::Node& node) {
    if (node.IsSequence()) return ReadRange(node, "value");
    row_.published = config::ScalarOf(yaml_, node, row_.id + ".value", "give a number or a text");
    double number = 0;
    const bool negative = row_.published.starts_with('-');
    if (config::ParseNumber(std::string_view(row_.published).substr(negative ? 1 : 0), number)) {
      row_.value = negative ? -number : number;
    }
  }

  void ReadRange(const YAML::Node& node, const std::string& key) {
    if (!node.IsSequence() || node.size() != 2) {
      Fail(node, key, {"is not a range", "give [low, high]"});
    }
    const double first = Number(node[0], key);
    const double second = Number(node[1], key);
    if (first > second) {
      Fail(node, key,
           {fmt::format("[{}, {}] begins with its larger end", first, second),
            fmt::format("give [{}, {}], if that is what was published", second, first)});
    }
    row_.low = first;
    row_.high = second;
    if (key == "value") row_.published = fmt::format("{} to {}", *row_.low, *row_.high);
  }

  std::vector<config::Assignment> ReadSet(const YAML::Node& node) {
    std::vector<config::Assignment> assignments;
    for (const MapItem& item : config::ItemsOf(yaml_, node, row_.id + ".set")) {
      assignments.push_back(ReadAssignment(item.key_node, item.value, item.key));
    }
    return assignments;
  }

  config::Assignment ReadAssignment(const YAML::Node& key_node, const YAML::Node& value,
                                    const std::string& key) {
    if (!MayVary(key)) {
      Fail(key_node, "set", {fmt::format("{} is not what a publication varies", key), kMayVary});
    }
    return {key, config::ScalarOf(yaml_, value, key, "give a value"), yaml_.At(key_node),
            yaml_.At(value)};
  }

  void ReadRuns(const YAML::Node& node) {
    for (const MapItem& run : config::ItemsOf(yaml_, node, row_.id + ".runs")) {
      FigureRun read{run.key, "", {}, "", {}};
      const std::string path = "runs." + run.key;
      for (const MapItem& item : config::ItemsOf(yaml_, run.value, row_.id + "." + path)) {
        if (item.key == "experiment") {
          read.experiment = ExperimentFile(item);
        } else if (item.key == "metric") {
          read.metric = Text(item);
        } else if (item.key == "set") {
          read.assignments = ReadSet(item.value);
        } else if (item.key == "sweep") {
          read.sweep = ReadSweep(item.value);
        } else if (item.key == "platform") {
          read.platform = Text(item);
        } else {
          Fail(item.key_node, path + "." + item.key,
               {"there is no such key", "use experiment, set, metric, sweep or platform"});
        }
      }
      if (read.experiment.empty() || read.metric.empty()) {
        Fail(run.value, path, {"is not a run", "give an experiment and a metric"});
      }
      row_.runs.push_back(read);
    }
  }

  FigureSweep ReadSweep(const YAML::Node& node) {
    FigureSweep sweep;
    std::string axis;
    YAML::Node axis_node;
    YAML::Node points;
    for (const MapItem& item : config::ItemsOf(yaml_, node, row_.id + ".sweep")) {
      if (item.key == "axis") {
        axis = Text(item);
        axis_node.reset(item.value);  // assignment would change the document
      } else if (item.key == "per") {
        sweep.per = AxisNumber(Text(item)).value_or(0);
        if (sweep.per <= 0) Fail(item.value, "sweep.per", {"is no distance", "give 16 B, say"});
      } else if (item.key == "inverse") {
        sweep.inverse = IsTrue(item);
      } else if (item.key == "points") {
        points.reset(item.value);
      } else {
        Fail(item.key_node, "sweep." + item.key,
             {"there is no such key", "use axis, points, per or inverse"});
      }
    }
    if (axis.empty() || !points.IsSequence() || points.size() < 2) {
      Fail(node, "sweep", {"is not a sweep", "give an axis and two points or more"});
    }
    for (const YAML::Node& point : points) {
      sweep.points.push_back(ReadAssignment(axis_node, point, axis));
    }
    return sweep;
  }

  void Finish() {
    if (!row_experiment_.empty()) {
      if (!row_.runs.empty()) Fail(node_, "runs", {"stands beside experiment", "use one of them"});
      if (row_.metric.empty()) Fail(node_, "metric", {"is not there", "name a metric of the run"});
      row_.runs.push_back({"a", row_experiment_, assignments_, row_.metric, {}});
    }
    if (sweep_) row_.sweep = ReadSweep(*sweep_);
    const bool is_shape = !row_.shape.IsEmpty();
    if (row_.runs.empty()) {
      if (is_shape || row_.sweep) Fail(node_, "experiment", {"is not there", "name one"});
      return;
    }
    if (row_.role != "fitted_on" && row_.role != "predicted") {
      Fail(node_, "role", {"is not there or not known", "use fitted_on or predicted"});
    }
    if (!is_shape && !row_.value && !row_.low) {
      Fail(
          node_, "value",
          {"is a text, and no shape is asked for", "add rank, flat, falls, linear_in or at_least"});
    }
    if (!is_shape) CheckValue();
    const bool one_value = row_.runs.size() == 1 && !row_.sweep;
    if (!one_value && row_.value_of.empty() && !is_shape) {
      Fail(node_, "value_of", {"is not there", "say how several runs make one value"});
    }
    if (row_.sweep && row_.runs.size() > 1) {
      Fail(node_, "sweep", {"has several runs", "give it one experiment"});
    }
    const double widest = TableTolerance(row_);
    if (row_.tolerance.value_or(widest) > widest) {
      Fail(node_, "tolerance",
           {"is wider than the table's", fmt::format("give at most {} %", widest * 100)});
    }
  }

  // What no simulated value could be held against.
  void CheckValue() {
    const bool plain = row_.value_of.empty() && row_.runs.size() == 1;
    if (plain && row_.value.value_or(row_.high.value_or(0)) < 0) {
      Fail(node_, "value",
           {fmt::format("{} is negative, and {} never is", row_.published, row_.metric),
            "give what was measured"});
    }
    const bool no_width = !row_.low || (*row_.low == 0 && *row_.high == 0);
    if (row_.value.value_or(0) == 0 && no_width) {
      Fail(node_, "value",
           {"is zero, and nothing is relative to that", "give a range, such as [0, 0.1]"});
    }
    if (row_.value && row_.low && (*row_.value < *row_.low || *row_.value > *row_.high)) {
      Fail(node_, "value_range",
           {fmt::format("does not hold the value {}", *row_.value), "give the published spread"});
    }
  }

  // The path of a file that is there.
  std::string ExperimentFile(const MapItem& item) {
    const std::string name = Text(item);
    const std::string path = ExperimentPath(name);
    if (access(path.c_str(), R_OK) == 0) return path;
    const bool is_path = name.ends_with(".yaml");
    Fail(item.value, item.key,
         {fmt::format("there is no {} {}", is_path ? "file" : "experiment", name),
          is_path ? "name a file that is there, or one of configs/experiments"
                  : config::Suggestion(name, ExperimentNames())});
  }

  const YamlText& yaml_;
  const YAML::Node node_;
  FigureRow row_;
  std::string row_experiment_;  // path
  std::vector<config::Assignment> assignments_;
  std::optional<YAML::Node> sweep_;
};

std::string FileNameOf(std::string platform) {
  for (char& c : platform) c = c == '-' ? '_' : static_cast<char>(std::tolower(c));
  return platform;
}

}  // namespace

std::vector<FigureRow> ReadFigures(const std::string& path) {
  const YamlText yaml = config::ReadYaml(path);
  if (!yaml.root.IsSequence()) {
    throw ConfigError(yaml.At(yaml.root), "file", {"is not a list of rows", "start each with '-'"});
  }
  std::vector<FigureRow> rows;
  std::set<std::string> ids;
  for (const YAML::Node& node : yaml.root) {
    rows.push_back(RowReader(yaml, node).Read());
    if (!ids.insert(rows.back().id).second) {
      throw ConfigError(yaml.At(node), rows.back().id,
                        {"stands here twice", "give each row its own id"});
    }
  }
  return rows;
}

std::string PlatformOf(const FigureRow& row) { return FileNameOf(row.platform); }

std::string PlatformOf(const FigureRow& row, const FigureRun& run) {
  return FileNameOf(run.platform.empty() ? row.platform : run.platform);
}

bool MayVary(const std::string& key) {
  for (const char* block : {"workload.", "transport.", "proxy."}) {
    if (key.starts_with(block)) return true;
  }
  return key == "library" || key == "gpu.sm_clock" || key == "host.clock_state" || key == "ranks";
}

}  // namespace ringpost::tools
