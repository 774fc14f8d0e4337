// config_command.h: `ringpost config`: the effective configuration and where it came from.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace ringpost::tools {

struct ConfigArguments {
  std::string config;
  std::vector<std::string> sets;
};

// Returns the exit status; throws config::ConfigError.
int RunConfigCommand(const ConfigArguments& arguments, std::ostream& out);

}  // namespace ringpost::tools
