// sources.h: what a command line and the environment say about a configuration.
#pragma once

#include <string>
#include <vector>

#include "configs/schema/loader.h"

namespace ringpost::tools {

struct ConfigOptions {
  std::string config;
  std::vector<std::string> sets;  // each --set
  std::string backend = {};       // --backend; empty: not given
  std::string seed = {};          // --seed; empty: not given
};

// In the order of precedence: RINGPOST_SET, --set, then --backend and --seed.
config::Sources MakeSources(const ConfigOptions& options);

}  // namespace ringpost::tools
