#include "tools/ringpost/sweep/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "configs/schema/config_error.h"
#include "configs/schema/schema.h"
#include "tools/ringpost/sweep/key_name.h"
#include "tools/ringpost/tolerance.h"

namespace ringpost::tools {
namespace {

constexpr char kHitRate[] = "_hit_rate";

const std::string& CellOf(const Row& row, size_t key) { return row.cells[1 + key]; }

// Locale does not matter: values are what JSON writes, and the program sets none.
double NumberOf(const Measure& measure) { return std::strtod(measure.value.c_str(), nullptr); }

const Measure* Find(const Row& row, const std::string& metric) {
  for (const Measure& measure : row.measures) {
    if (measure.name == metric) return &measure;
  }
  return nullptr;
}

// The distinct values of a key in the order of the rows.
std::vector<std::string> ValuesOf(const std::vector<const Row*>& rows, size_t key) {
  std::vector<std::string> values;
  std::unordered_set<std::string> seen;
  for (const Row* row : rows) {
    const std::string& value = CellOf(*row, key);
    if (seen.insert(value).second) values.push_back(value);
  }
  return values;
}

bool AreNumbers(const std::vector<std::string>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const std::string& value) { return AxisNumber(value).has_value(); });
}

size_t ChooseX(const Plan& plan, const std::vector<const Row*>& rows) {
  size_t chosen = 0;
  size_t most = 0;
  for (size_t key = 0; key < plan.keys.size(); ++key) {
    if (plan.keys[key] == plan.x) return key;
    const std::vector<std::string> values = ValuesOf(rows, key);
    if (AreNumbers(values) && values.size() > most) {
      most = values.size();
      chosen = key;
    }
  }
  return chosen;
}

// Keys that have more than one value at one x. A key that goes along with x makes no curve.
std::vector<size_t> SeriesKeys(const Plan& plan, const std::vector<const Row*>& rows, size_t x) {
  std::vector<size_t> keys;
  for (size_t key = 0; key < plan.keys.size(); ++key) {
    std::map<std::string, std::set<std::string>> at;
    for (const Row* row : rows) at[CellOf(*row, x)].insert(CellOf(*row, key));
    const bool differs = std::any_of(at.begin(), at.end(),
                                     [](const auto& entry) { return entry.second.size() > 1; });
    if (key != x && differs) keys.push_back(key);
  }
  return keys;
}

void SetX(const std::vector<const Row*>& rows, size_t key, Plot& plot) {
  plot.x_texts = ValuesOf(rows, key);
  if (!AreNumbers(plot.x_texts)) {
    plot.x_scale = Scale::kWords;
    for (size_t i = 0; i < plot.x_texts.size(); ++i) {
      plot.x_values.push_back(static_cast<double>(i));
    }
    return;
  }
  std::sort(
      plot.x_texts.begin(), plot.x_texts.end(),
      [](const std::string& a, const std::string& b) { return *AxisNumber(a) < *AxisNumber(b); });
  for (const std::string& text : plot.x_texts) plot.x_values.push_back(*AxisNumber(text));
  if (IsGeometric(plot.x_values)) plot.x_scale = Scale::kLogarithmic;
}

PlotPoint PointOf(const std::vector<const Row*>& rows, const std::string& metric, size_t x) {
  std::vector<double> values;
  for (const Row* row : rows) values.push_back(NumberOf(*Find(*row, metric)));
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  PlotPoint point;
  point.x = x;
  point.median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  point.least = values.front();
  point.largest = values.back();
  point.seeds_count = values.size();
  point.source = rows[0]->source();
  point.limited_by = rows[0]->limited_by();
  point.hash = rows[0]->hash();
  for (const Measure& measure : rows[0]->measures) {
    if (measure.name.ends_with(kHitRate)) point.hit_rates.push_back(measure);
  }
  return point;
}

// Both axes of a power law: a share of the largest would hide the small ones.
void SetY(Plot& plot) {
  double least = plot.series[0].points[0].least;
  double largest = least;
  for (const Series& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      least = std::min(least, point.least);
      largest = std::max(largest, point.largest);
    }
  }
  const bool wide = least > 0 && largest / least >= 10;
  if (plot.x_scale == Scale::kLogarithmic && wide) plot.y_scale = Scale::kLogarithmic;
}

// With the keys that have its values.
std::string LabelOf(const Plan& plan, const std::vector<const Row*>& rows, size_t x) {
  std::string label = plan.keys[x];
  for (size_t key = 0; key < plan.keys.size(); ++key) {
    const bool same = std::all_of(rows.begin(), rows.end(), [&](const Row* row) {
      return CellOf(*row, key) == CellOf(*row, x);
    });
    if (key != x && same) label += ", " + plan.keys[key];
  }
  return label;
}

template <class Item>
void KeepSome(std::vector<Item>& items, size_t most) {
  if (items.size() <= most) return;
  std::vector<Item> kept;
  for (size_t i = 0; i < most; ++i) {
    kept.push_back(std::move(items[i * (items.size() - 1) / (most - 1)]));
  }
  items = std::move(kept);
}

Plot MakePlot(const Plan& plan, const std::vector<const Row*>& rows, const std::string& metric) {
  Plot plot;
  plot.metric = metric;
  plot.unit = Find(*rows[0], metric)->unit;
  const size_t x = ChooseX(plan, rows);
  plot.x_key = plan.keys[x];
  plot.x_label = LabelOf(plan, rows, x);
  SetX(rows, x, plot);
  plot.series_keys = SeriesKeys(plan, rows, x);
  std::unordered_map<std::string, size_t> places, curves;
  for (size_t i = 0; i < plot.x_texts.size(); ++i) places.emplace(plot.x_texts[i], i);
  // By curve, then by x.
  std::map<std::pair<size_t, size_t>, std::vector<const Row*>> groups;
  for (const Row* row : rows) {
    const std::string name = SeriesName(plan, plot, *row);
    const size_t curve = curves.emplace(name, curves.size()).first->second;
    if (curve == plot.series.size()) plot.series.push_back({.name = name, .points = {}});
    groups[{curve, places.at(CellOf(*row, x))}].push_back(row);
  }
  for (const auto& [place, group] : groups) {
    plot.series[place.first].points.push_back(PointOf(group, metric, place.second));
  }
  plot.curves_count = plot.series.size();
  plot.points_count = groups.size();
  SetY(plot);
  return plot;
}

// Each once, in the order of the rows.
std::vector<std::string> MetricsOf(const std::vector<Row>& rows) {
  std::vector<std::string> all;
  std::unordered_set<std::string> known;
  for (const Row& row : rows) {
    for (const Measure& measure : row.measures) {
      if (known.insert(measure.name).second) all.push_back(measure.name);
    }
  }
  return all;
}

}  // namespace

bool IsGeometric(const std::vector<double>& values) {
  if (values.size() < 3 || values.front() <= 0) return false;
  double least = values[1] - values[0];
  double largest = least;
  for (size_t i = 1; i < values.size(); ++i) {
    least = std::min(least, values[i] - values[i - 1]);
    largest = std::max(largest, values[i] - values[i - 1]);
  }
  return values.back() / values.front() >= 4 && largest >= 2 * least;
}

std::string SeriesName(const Plan& plan, const Plot& plot, const Row& row) {
  std::string name;
  for (const size_t key : plot.series_keys) {
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", ShortName(plan.keys[key]),
                        CellOf(row, key));
  }
  return name;
}

void CheckMetrics(const Plan& plan, const std::vector<Row>& rows) {
  const std::vector<std::string> all = MetricsOf(rows);
  if (all.empty()) return;
  for (const PlotMetric& metric : plan.metrics) {
    if (std::find(all.begin(), all.end(), metric.name) != all.end()) continue;
    throw config::ConfigError(
        metric.position, "plot.metrics",
        {fmt::format("no run has a metric {}", metric.name), "use " + config::Join(all)});
  }
}

std::vector<Plot> MakePlots(const Plan& plan, const std::vector<Row>& rows) {
  CheckMetrics(plan, rows);
  std::vector<std::string> metrics;
  for (const PlotMetric& metric : plan.metrics) metrics.push_back(metric.name);
  if (plan.metrics.empty()) {
    metrics = MetricsOf(rows);
    // Those are plotted only where they are asked for.
    std::erase_if(metrics, [](const std::string& name) { return name.ends_with(kHitRate); });
  }
  std::vector<Plot> plots;
  for (const std::string& metric : metrics) {
    std::vector<const Row*> with;
    for (const Row& row : rows) {
      if (Find(row, metric) != nullptr) with.push_back(&row);
    }
    if (with.empty()) continue;  // every point failed
    plots.push_back(MakePlot(plan, with, metric));
  }
  return plots;
}

void Thin(Plot& plot) {
  KeepSome(plot.series, kMostCurves);
  const size_t most = std::max<size_t>(2, kMostDrawn / plot.series.size());
  for (Series& series : plot.series) KeepSome(series.points, most);
}

}  // namespace ringpost::tools
