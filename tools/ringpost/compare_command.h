// compare_command.h: `ringpost compare`: two results of `ringpost run --json` side by side.
#pragma once

#include <ostream>
#include <string>

namespace ringpost::tools {

struct CompareArguments {
  std::string a;
  std::string b;
};

// The relative error of each metric is that of one run against the other: of the simulated one
// against the measured one where they differ in that, else of B against A. Below stands what
// differs in their configurations, and in what was measured on. Returns the exit status; throws
// config::ConfigError for a file that is no such result, or if no metric is in both.
int RunCompareCommand(const CompareArguments& arguments, std::ostream& out);

}  // namespace ringpost::tools
