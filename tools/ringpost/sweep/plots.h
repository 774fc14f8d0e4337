// plots.h: the curves of a sweep: one plot for each metric, one curve for each series.
//
// The horizontal axis is the plan's `plot: {x: ...}`; without it, the key that takes the most
// numbers. Other keys that differ at the same x make series. Rows that differ in nothing but their
// seed are one point: the median, with the least and the largest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/ringpost/sweep/decline.h"
#include "tools/ringpost/sweep/plan.h"
#include "tools/ringpost/sweep/row.h"

namespace ringpost::tools {

// Where a plot has more, it shows some of them: more would be no clearer, and slow to open.
constexpr size_t kMostCurves = 64;
constexpr size_t kMostDrawn = 4000;  // points of a plot

struct PlotPoint {
  size_t x = 0;  // index in Plot::x_texts
  double median = 0;
  double least = 0;
  double largest = 0;
  size_t seeds_count = 0;
  // Of the first of its rows.
  std::string source;  // "simulated" or "measured"
  std::string limited_by;
  std::vector<Measure> hit_rates;
  std::string hash;
};

struct Series {
  std::string name;               // empty where there is but one
  std::vector<PlotPoint> points;  // ascending in x
  std::optional<Decline> decline = {};
  size_t fitted_count = 0;  // points that this rests on
};

// A published value of the configuration of a point.
struct PublishedPoint {
  size_t x = 0;
  double value = 0;
  std::string source;
  std::string series;  // the name of the curve that it belongs to
};

// How an axis is divided: not at all by words, which stand at equal distances.
enum class Scale : uint8_t { kWords, kLinear, kLogarithmic };

struct Plot {
  std::string metric;
  std::string unit;
  std::string x_key;
  std::string x_label;               // with the keys that go along with it
  std::vector<std::string> x_texts;  // ascending, or for words in the order of the file
  std::vector<double> x_values;      // where they stand
  Scale x_scale = Scale::kLinear;
  Scale y_scale = Scale::kLinear;
  std::vector<size_t> series_keys;  // indices in Plan::keys: what differs between curves
  std::vector<Series> series;
  std::vector<PublishedPoint> published;
  size_t curves_count = 0;  // before some were left out
  size_t points_count = 0;
};

// Throws config::ConfigError for a metric that the plan names and none of these rows has; nothing
// is known where none has any.
void CheckMetrics(const Plan& plan, const std::vector<Row>& rows);

// Rows that failed are left out. Throws config::ConfigError for a metric that the plan names and no
// row has.
std::vector<Plot> MakePlots(const Plan& plan, const std::vector<Row>& rows);

// The name of the curve of a plot that a row belongs to.
std::string SeriesName(const Plan& plan, const Plot& plot, const Row& row);

// Leaves out curves, and points within curves, at equal distances, the first and the last of them
// stay, so that a plot has no more than kMostCurves and kMostDrawn.
void Thin(Plot& plot);

// Whether distances grow as those of 1, 2, 4, 8 do. `values` ascend.
bool IsGeometric(const std::vector<double>& values);

}  // namespace ringpost::tools
