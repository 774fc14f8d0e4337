// verdict.h: a published row against what the simulator says.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/ringpost/experiment.h"
#include "tools/ringpost/figures.h"

namespace ringpost::tools {

enum class Status : uint8_t { kHit, kMiss, kUncovered };

struct Verdict {
  FigureRow row;
  Status status = Status::kUncovered;
  bool counted = false;  // false: the same measurement counts elsewhere, or it derives from such
  std::optional<double> simulated;
  std::string simulated_text;  // shapes: the values
  std::optional<double> relative_error;
  double tolerance = 0;
  std::string reason;           // why a row missed, is uncovered or is not counted
  std::string hash;             // over the configurations of its runs; empty: uncovered
  std::string measurement;      // equal for rows that measure the same
  std::set<std::string> parts;  // what each of its runs measures
};

// Throws config::ConfigError when the row's experiments cannot be loaded.
Verdict Judge(const FigureRow& row, Runs& runs);

// Of rows with the same measurement the first counts. Differences never do, nor do quotients each
// run of which is another row's.
void MarkCounted(std::vector<Verdict>& verdicts);

const char* NameOf(Status status);

}  // namespace ringpost::tools
