// plan.h: what bench/refit may move, and which figures fix it: configs/fit.yaml.
//
// Stages run in order and each starts from what the earlier ones have found, so that a parameter
// that one row fixes alone is set once. A move is one number: a parameter of one platform, or
// several parameters of it that share the number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/schema/config_error.h"

namespace ringpost::bench {

struct Move {
  std::string platform;                 // the file that holds the number
  std::vector<std::string> parameters;  // "gpu.wqe_build"; all get the same number
  bool in_cycles = false;               // which part of a time is moved; the other one is zero
  double from = 1;                      // bounds, in cycles or ns
  double to = 10000;
};

struct Stage {
  std::vector<std::string> rows;  // ids of configs/reference/figures.yaml
  std::vector<Move> moves;
  uint32_t phases = 1;  // see Fitter
  config::Position position;
};

struct Plan {
  std::string covers;  // a regular expression over the ids of all covered rows
  std::vector<Stage> stages;
};

// Throws config::ConfigError.
Plan ReadPlan(const std::string& path);

}  // namespace ringpost::bench
