// plan.h: what `ringpost fit` may move, and which measured rows fix it.
//
//   stages:
//     - rows: [my_issue]                     # ids of the file of figures
//       move:
//         - {platform: p_ib, parameters: [gpu.wqe_build], part: cycles, from: 20, to: 600}
//
// Stages run in order and each starts from what the earlier ones have found, so that a parameter
// that one row fixes alone is set once. A move is one number: a parameter of one platform, or
// several parameters of it that share the number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/schema/config_error.h"

namespace ringpost::tools {

struct Move {
  std::string platform;                 // the file that holds the number
  std::vector<std::string> parameters;  // "gpu.wqe_build"; all get the same number
  bool in_cycles = false;               // which part of a time is moved; the other one is zero
  double from = 1;                      // bounds, in cycles or ns
  double to = 10000;
  config::Position position;
};

struct FitStage {
  std::vector<std::string> rows;  // ids
  std::vector<Move> moves;
  uint32_t phases = 1;  // see Fitter
  config::Position position;
};

struct FitPlan {
  std::string covers = ".";  // a regular expression over the ids of the rows that it answers for
  std::vector<FitStage> stages;
};

// Throws config::ConfigError.
FitPlan ReadFitPlan(const std::string& path);

// The platforms that it moves, each once, in its order.
std::vector<std::string> MovedPlatforms(const FitPlan& plan);

}  // namespace ringpost::tools
