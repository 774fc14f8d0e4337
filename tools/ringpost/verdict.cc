#include "tools/ringpost/verdict.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "configs/schema/config_error.h"
#include "configs/schema/config_hash.h"
#include "configs/schema/quantity.h"
#include "configs/schema/root.h"
#include "tools/ringpost/metric_unit.h"
#include "tools/ringpost/reduce.h"
#include "tools/ringpost/tolerance.h"

namespace ringpost::tools {
namespace {

using Values = std::map<std::string, double>;  // of runs, by name

// One row's runs, measured.
struct Measured {
  Values values;
  Series series;                             // of a sweep
  std::map<std::string, std::string> units;  // of those values; of a sweep's, by ""
  std::string hashes;                        // with the metric, in order
  std::set<std::string> parts;               // of them, by run
  std::string error;                         // empty: all there
};

std::optional<double> Measure(const FigureRow& row, const FigureRun& run,
                              const config::Assignment* point, Runs& runs, Measured& measured) {
  config::Sources sources{run.experiment, run.assignments};
  sources.assignments.push_back({"platform", PlatformOf(row, run), row.position, row.position});
  if (point != nullptr) sources.assignments.push_back(*point);
  const Experiment experiment = LoadExperiment(sources);
  if (experiment.loaded.config.backend != config::Backend::kSim) {
    throw config::ConfigError(row.position, row.id,
                              {run.experiment + " measures this machine, which is no simulation of "
                                                "what was published",
                               "use an experiment with backend: sim"});
  }
  measured.hashes += experiment.hash + ":" + run.metric + " ";
  const workloads::RunResult& result = runs.Of(experiment);
  if (!result.ok) {
    measured.error = "the run failed: " + result.error;
    return std::nullopt;
  }
  const workloads::Metric* metric = FindMetric(result, run.metric);
  if (metric == nullptr) {
    measured.error = "the run reports no " + run.metric;
    return std::nullopt;
  }
  measured.units[row.sweep ? "" : run.name] = metric->unit;
  return metric->value;
}

// One run a point.
Series MeasureSweep(const FigureRow& row, const FigureRun& run, const FigureSweep& sweep,
                    Runs& runs, Measured& measured) {
  Series series;
  for (const config::Assignment& point : sweep.points) {
    const auto value = Measure(row, run, &point, runs, measured);
    const double x = AxisNumber(point.value).value_or(static_cast<double>(series.size()));
    if (value) series.push_back({sweep.inverse && x != 0 ? 1 / x : x, *value});
  }
  return series;
}

// What a run's own sweep gives: "max(a)" and the others.
void AddReduced(const FigureRun& run, const Series& series, Measured& measured) {
  if (series.size() < 2) return;
  for (const std::string what : {"onset", "max", "min", "slope", "intercept"}) {
    const std::string name = fmt::format("{}({})", what, run.name);
    measured.values[name] = Reduce(series, what, run.sweep->per);
    if (what != "onset" && what != "slope") measured.units[name] = measured.units[run.name];
  }
  const std::string name = run.name;
  measured.values[fmt::format("spread({})", name)] =
      Reduce(series, "max", 1) / Reduce(series, "min", 1);
}

Measured MeasureAll(const FigureRow& row, Runs& runs) {
  Measured measured;
  if (row.sweep) {
    measured.series = MeasureSweep(row, row.runs[0], *row.sweep, runs, measured);
    return measured;
  }
  for (const FigureRun& run : row.runs) {
    const size_t before = measured.hashes.size();
    if (run.sweep) {
      const Series series = MeasureSweep(row, run, *run.sweep, runs, measured);
      AddReduced(run, series, measured);
    } else if (const auto value = Measure(row, run, nullptr, runs, measured)) {
      measured.values[run.name] = *value;
    }
    measured.parts.insert(measured.hashes.substr(before));
  }
  return measured;
}

// The row's one value, if it has one; throws config::ConfigError for a malformed value_of.
std::optional<double> ValueOf(const FigureRow& row, const Measured& measured) {
  try {
    if (row.value_of.empty()) {
      if (row.sweep || measured.values.size() != 1) return std::nullopt;
      return measured.values.begin()->second;
    }
    if (row.sweep) return Reduce(measured.series, row.value_of, row.sweep->per);
    return Combine(measured.values, row.value_of);
  } catch (const config::ValueError& error) {
    throw config::ConfigError(row.position, row.id + ".value_of", error);
  }
}

// The unit of the value before it is that of the row; empty where it has none, as a quotient.
std::string UnitOfValue(const FigureRow& row, const Measured& measured) {
  const std::string& value_of = row.value_of;
  const auto unit = [&measured](const std::string& name) {
    const auto found = measured.units.find(name);
    return found == measured.units.end() ? std::string() : found->second;
  };
  if (row.sweep) {
    const bool has_one = (value_of == "slope" && !row.sweep->inverse) || value_of == "intercept" ||
                         value_of == "max" || value_of == "min";
    return has_one ? unit("") : "";
  }
  if (value_of.empty()) return unit(row.runs[0].name);
  const size_t sign = value_of.find(' ');
  if (sign == std::string::npos || sign + 3 > value_of.size()) return "";
  const std::string right = value_of.substr(sign + 3);
  double number = 0;
  const bool scales = config::ParseNumber(right, number);
  return value_of[sign + 1] == '-' || scales ? unit(value_of.substr(0, sign)) : "";
}

// What turns the value into one of the row's unit. Throws config::ConfigError where nothing does.
double FactorOf(const FigureRow& row, const Measured& measured) {
  // Runs that tell no units say nothing of them.
  for (const auto& [run, unit] : measured.units) {
    if (unit.empty()) return 1;
  }
  const bool says_none = row.unit.empty() || row.unit == "-";
  // A slope is "us per 16 B".
  const std::string asked = row.unit.substr(0, row.unit.find(" per "));
  const std::string its = UnitOfValue(row, measured);
  const auto refuse = [&row](const std::string& wrong, const std::string& right) {
    throw config::ConfigError(row.position, row.id + ".unit", {wrong, right});
  };
  if (its.empty()) {
    if (!row.value_of.empty() && !row.sweep && IsMeasure(row.unit)) {
      refuse(fmt::format("'{}' is no unit of {}", row.unit, row.value_of), "leave it out");
    }
    if (row.unit == "%" && row.value_of.find(" / ") != std::string::npos) {
      refuse(fmt::format("{} is no percentage", row.value_of), "use share(a, b), or leave it out");
    }
    return 1;
  }
  if (says_none) return 1;
  const std::optional<double> factor = FactorBetween(its, asked);
  if (!factor) {
    refuse(fmt::format("'{}' is no unit of what is measured, which is in {}", row.unit, its),
           "use " + UnitsLike(its));
  }
  return *factor;
}

// Why the shape does not hold; empty when it does.
std::string ShapeFault(const FigureRow& row, const Measured& measured,
                       std::optional<double> value) {
  const FigureShape& shape = row.shape;
  const Series& series = measured.series;
  for (size_t i = 1; i < shape.rank.size(); ++i) {
    const auto lower = measured.values.find(shape.rank[i - 1]);
    const auto upper = measured.values.find(shape.rank[i]);
    if (lower == measured.values.end() || upper == measured.values.end()) {
      throw config::ConfigError(row.position, row.id + ".rank",
                                {"names a run that is not there", "name those of runs"});
    }
    if (lower->second >= upper->second) return lower->first + " is not below " + upper->first;
  }
  for (size_t i = 1; shape.falls && i < series.size(); ++i) {
    if (series[i].y >= series[i - 1].y) {
      return "does not fall at " + row.sweep->points[i].value;
    }
  }
  if (shape.flat_percent) {
    const double spread = (Reduce(series, "max", 1) / Reduce(series, "min", 1) - 1) * 100;
    if (spread > *shape.flat_percent) return fmt::format("varies by {:.1f} %", spread);
  }
  constexpr double kLinear = 0.98;
  if (shape.linear) {
    const double r2 = Reduce(series, "r2", 1);
    if (r2 < kLinear) return fmt::format("R2 is {:.3f}", r2);
  }
  if (shape.at_least && value.value_or(0) < *shape.at_least) {
    return fmt::format("is below {}", *shape.at_least);
  }
  return "";
}

void JudgeValue(Verdict& verdict) {
  const FigureRow& row = verdict.row;
  const double simulated = *verdict.simulated;
  const bool in_range = row.low && simulated >= *row.low && simulated <= *row.high;
  bool near = false;
  if (row.value == 0) {
    // Hit within value_range; nothing is relative to zero.
  } else if (row.value) {
    verdict.relative_error = (simulated - *row.value) / std::abs(*row.value);
    near = std::abs(*verdict.relative_error) <= verdict.tolerance;
  } else {
    const double end = simulated < *row.low ? *row.low : *row.high;
    // Of a range that ends at zero, relative to its other end.
    const double size = end != 0 ? std::abs(end) : std::max(std::abs(*row.low), *row.high);
    verdict.relative_error = in_range ? 0 : (simulated - end) / size;
  }
  verdict.status = in_range || near ? Status::kHit : Status::kMiss;
  if (verdict.status == Status::kMiss) {
    verdict.reason = verdict.relative_error && row.value
                         ? fmt::format("off by {:+.1f} %, tolerance {:.0f} %",
                                       *verdict.relative_error * 100, verdict.tolerance * 100)
                         : "outside the published range";
  }
}

// Of values, those that the row ranks, or all.
std::string SeriesText(const FigureRow& row, const Measured& measured) {
  std::string text;
  for (const Point& point : measured.series) text += fmt::format(" {:.4g}", point.y);
  for (const std::string& name : row.shape.rank) {
    text += fmt::format(" {} {:.4g}", name, measured.values.at(name));
  }
  if (!row.shape.rank.empty()) return text.substr(1);
  for (const auto& [name, value] : measured.values) text += fmt::format(" {} {:.4g}", name, value);
  return text.empty() ? text : text.substr(1);
}

}  // namespace

Verdict Judge(const FigureRow& row, Runs& runs) {
  Verdict verdict;
  verdict.row = row;
  verdict.tolerance = row.tolerance.value_or(TableTolerance(row));
  if (row.runs.empty()) {
    verdict.reason = row.note.empty() ? "no experiment answers it" : row.note;
    return verdict;
  }
  if (access(config::PlatformPath(PlatformOf(row)).c_str(), R_OK) != 0) {
    verdict.reason = "there is no platform file for " + row.platform;
    return verdict;
  }
  const Measured measured = MeasureAll(row, runs);
  verdict.measurement = measured.hashes + row.value_of + (row.shape.IsEmpty() ? "" : "shape");
  verdict.parts = measured.parts;
  verdict.hash = fmt::format("{:016x}", config::HashOf(measured.hashes));
  verdict.status = Status::kMiss;
  verdict.reason = measured.error;
  if (!measured.error.empty()) return verdict;
  verdict.simulated = ValueOf(row, measured);
  if (verdict.simulated) *verdict.simulated *= FactorOf(row, measured);
  if (!row.shape.IsEmpty()) {
    verdict.reason = ShapeFault(row, measured, verdict.simulated);
    verdict.simulated_text = SeriesText(row, measured);
    verdict.status = verdict.reason.empty() ? Status::kHit : Status::kMiss;
  } else {
    JudgeValue(verdict);
  }
  if (verdict.status == Status::kMiss && !row.note.empty()) verdict.reason += "; " + row.note;
  return verdict;
}

void MarkCounted(std::vector<Verdict>& verdicts) {
  std::map<std::string, std::string> first;  // row by measurement
  std::set<std::string> alone;               // what rows of one run measure
  for (const Verdict& verdict : verdicts) {
    if (verdict.row.value_of.empty()) alone.insert(verdict.measurement);
  }
  for (Verdict& verdict : verdicts) {
    if (verdict.status == Status::kUncovered) continue;
    const std::string& value_of = verdict.row.value_of;
    const bool combined = !value_of.empty() && !verdict.row.sweep;
    const bool derived =
        combined && (value_of.find(" - ") != std::string::npos ||
                     std::all_of(verdict.parts.begin(), verdict.parts.end(),
                                 [&](const std::string& part) { return alone.contains(part); }));
    const auto [entry, is_new] = first.try_emplace(verdict.measurement, verdict.row.id);
    verdict.counted = is_new && !derived;
    if (verdict.counted) continue;
    if (!verdict.reason.empty()) verdict.reason += "; ";
    verdict.reason += derived ? "shown: derived from other values" : "shown: as " + entry->second;
  }
}

const char* NameOf(Status status) {
  if (status == Status::kHit) return "hit";
  return status == Status::kMiss ? "miss" : "uncovered";
}

}  // namespace ringpost::tools
