// sweep_command.h: `ringpost sweep`: many runs of one experiment, as a table and as curves.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

namespace ringpost::tools {

struct SweepArguments {
  std::string config;
  std::string out;
  std::optional<uint32_t> jobs = {};  // of each rank; default: as many as cores
  bool resume = false;
  bool force = false;
};

// Writes the files of the sweep and returns the exit status: 1 when a point failed, 3 for
// violations that were not asked for. Throws config::ConfigError.
int RunSweepCommand(const SweepArguments& arguments, std::ostream& out);

}  // namespace ringpost::tools
