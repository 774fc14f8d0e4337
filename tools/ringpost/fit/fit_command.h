// fit_command.h: `ringpost fit`: moves named parameters of a platform so that measured rows are
// met.
#pragma once

#include <ostream>
#include <string>

namespace ringpost::tools {

struct FitArguments {
  std::string config;      // what may move: plan.h
  std::string figures;     // rows; empty: configs/reference/figures.yaml
  std::string out;         // the platform with what was fitted; empty: none
  std::string json;        // empty: none
  std::string docs;        // the document whose tables are written; empty: none
  bool write = false;      // into the files of configs/platforms
  bool rows_only = false;  // fits nothing: runs the rows that the configuration answers for
};

// Prints what it has fitted and what is left, and returns the exit status. RINGPOST_SET does not
// apply, as to `reproduce`. Throws config::ConfigError.
int RunFitCommand(const FitArguments& arguments, std::ostream& out);

}  // namespace ringpost::tools
