// quickstart_command.h: `ringpost` without an argument: four published values of P-IB and what the
// simulator says.
#pragma once

#include <ostream>

#include "tools/ringpost/experiment.h"

namespace ringpost::tools {

// Returns the exit status; throws config::ConfigError.
int RunQuickstartCommand(const Runner& runner, std::ostream& out);

}  // namespace ringpost::tools
