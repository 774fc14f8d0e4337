// plan.h: what a sweep runs: an experiment, and the settings of each of its points.
//
//   experiment: rate_batched              # a file of configs/experiments, or the path of one
//   set: {workload.operations: 2000}      # for all points
//   axes:                                 # a point for each combination, the last axis innermost
//     transport.ordering: [gpu_fence, system_fence]
//     transport.qps_per_peer, workload.threads: [1, 2, [4, 8]]    # one for both, or each its own
//   seeds: [1, 2, 3]                      # innermost of all; default: the experiment's own
//   plot: {x: workload.threads, metrics: [message_rate]}     # default: see plots.h
//
// Instead of axes, `points:` is a list of maps from keys to values. The order of points is that of
// the file, and the same in every run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "configs/schema/config.h"
#include "configs/schema/config_error.h"
#include "configs/schema/loader.h"

namespace ringpost::tools {

// A sweep of more points is refused: each is checked before the first one runs.
constexpr uint64_t kMostPoints = 50'000;

// A metric that the file asks a plot of. Whether there is one of that name, runs tell.
struct PlotMetric {
  std::string name;
  config::Position position;
};

struct Plan {
  std::string file;
  std::string experiment;               // path
  std::vector<config::Assignment> set;  // of RINGPOST_SET, then of the file
  std::vector<std::string> keys;        // that differ between points, in the order of the file
  // For each axis the settings of each of its values; a list of points is one axis.
  std::vector<std::vector<std::vector<config::Assignment>>> axes;
  std::vector<config::Assignment> seeds;  // empty: the experiment's own
  std::string x;                          // of the plots; empty: not said
  std::vector<PlotMetric> metrics;        // of the plots; empty: all

  uint64_t PointsCount() const;
  // In the order of precedence, `set` first.
  std::vector<config::Assignment> SettingsOf(uint64_t point) const;
};

// Throws config::ConfigError: also for a key that stands twice, and for too many points.
Plan ReadPlan(const std::string& path);

// A point with what its effective configuration says.
struct SweepPoint {
  uint64_t index = 0;
  std::vector<std::string> values;  // of the keys of the plan
  std::string seed;
  std::string backend;
  std::string platform;
  std::string kind;  // of the workload
  std::string hash;
  uint64_t shape = 0;   // ShapeOf() its configuration
  bool unsafe = false;  // asked for violations
};

// Told how many points have been checked, after each.
using Checked = std::function<void(uint64_t)>;

// Checks each point as `run` would. Throws config::ConfigError, also for two points that are the
// same run, however their values are written.
std::vector<SweepPoint> CheckPoints(const Plan& plan, const Checked& checked = {});

// A hash over what a configuration is, whatever its seed and however long it runs.
uint64_t ShapeOf(const config::Effective& effective);

}  // namespace ringpost::tools
