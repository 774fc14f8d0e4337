// figures.h: rows of published figures, as configs/reference/figures.yaml writes them.
//
// A row has a published value and says how to measure it: one run, several named runs that
// `value_of` combines, or a sweep. `set:` may name only what a publication varies: costs and
// platforms are refused, so that no figure can be tuned by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/schema/config_error.h"
#include "configs/schema/loader.h"

namespace ringpost::tools {

struct FigureSweep {
  std::vector<config::Assignment> points;  // the same key, one value each
  double per = 1;                          // a slope is given per this many units of the key
  bool inverse = false;                    // over 1 / the key: of T = C / f + B, C is the slope
};

// One run of an experiment and the metric to take from it.
struct FigureRun {
  std::string name;                             // within `runs:`; "a" for a row with one run
  std::string experiment;                       // path of its file
  std::vector<config::Assignment> assignments;  // of `set:`
  std::string metric;
  std::optional<FigureSweep> sweep;  // of its own, among several runs
  std::string platform = {};         // where it is not the row's
};

// What the simulated values must look like; several may be asked for.
struct FigureShape {
  std::vector<std::string> rank;       // runs by name, in ascending order of their values
  std::optional<double> flat_percent;  // largest over smallest of the sweep, less one
  std::optional<double> at_least;      // the value
  bool falls = false;                  // each point of the sweep is below the one before
  bool linear = false;                 // R2 of the sweep is at least 0.98

  bool IsEmpty() const { return rank.empty() && !flat_percent && !at_least && !falls && !linear; }
};

struct FigureRow {
  std::string id, system, platform, metric, unit, source, role;
  std::string note;       // what there is to say about it: the reason of a miss, say
  std::string table;      // part of the source: "Table 3"
  std::string published;  // as written
  std::optional<double> value;
  std::optional<double> low, high;  // a range: value: [a, b] or value_range
  std::optional<double> tolerance;  // tightens the table's; 0.1 is 10 %
  std::vector<FigureRun> runs;      // none: uncovered
  std::optional<FigureSweep> sweep;
  std::string value_of;
  FigureShape shape;
  config::Position position;
};

// Throws config::ConfigError.
std::vector<FigureRow> ReadFigures(const std::string& path);

// The name of a platform file: "P-IB" -> "p_ib".
std::string PlatformOf(const FigureRow& row);
std::string PlatformOf(const FigureRow& row, const FigureRun& run);

// Whether `set:` may name the key.
bool MayVary(const std::string& key);

}  // namespace ringpost::tools
