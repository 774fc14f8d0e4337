// runner.h: runs the workload of a configuration and returns what it measured.
//
// Deterministic in virtual time: equal configuration, platform and seed give equal results, to the
// bit. In real time (backends live and mlx5) it measures this machine; where ranks are other
// processes, rank 0 has the metrics and each its own counters. Errors of the run (an error CQE, a
// hang) come back in the result; a workload that the policies cannot serve is refused there too,
// before anything runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/sim/put_path.h"
#include "configs/schema/config.h"
#include "sim/cost/platform.h"
#include "workloads/run_options.h"

namespace ringpost::workloads {

struct Metric {
  std::string name;
  double value = 0;
  std::string unit;
};

// Of a measured run: what was measured on, so that two runs can be compared.
struct Circumstance {
  std::string name;
  std::string value;
};

// Of completions that a live NIC held until the platform's time for them.
struct PaceResult {
  uint64_t held = 0;
  uint64_t late = 0;  // came after that time
  double late_median_us = 0;
  double late_p99_us = 0;
  double late_max_us = 0;
};

struct RunResult {
  bool measured = false;  // in real time; else simulated
  std::vector<Circumstance> circumstances;
  std::optional<PaceResult> pace;  // of rank 0
  std::vector<Metric> metrics;
  std::vector<std::pair<std::string, uint64_t>> counters;
  std::vector<std::string> violations;  // reports of the ordering checker, one line each
  uint64_t violation_count = 0;
  std::optional<PutPath> timeline;  // none: not asked for, or there is no such put
  std::string limited_by;  // the stage with the least time to spare, and how much it was used
  bool ok = true;
  std::string error;
};

RunResult Run(const config::Config& config, const sim::Platform& platform,
              const RunOptions& options);

}  // namespace ringpost::workloads
