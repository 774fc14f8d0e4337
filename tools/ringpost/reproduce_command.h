// reproduce_command.h: `ringpost reproduce`: published figures beside simulated ones.
#pragma once

#include <ostream>
#include <string>

#include "tools/ringpost/experiment.h"

namespace ringpost::tools {

struct ReproduceArguments {
  std::string figures;  // empty: configs/reference/figures.yaml
  std::string only;     // a regular expression over id, system and platform; empty: all
  std::string json;     // empty: none
};

// Returns the exit status: 3 when a counted row misses. RINGPOST_SET does not apply: a figure is
// compared under its own settings. Throws config::ConfigError.
int RunReproduceCommand(const ReproduceArguments& arguments, const Runner& runner,
                        std::ostream& out);

}  // namespace ringpost::tools
