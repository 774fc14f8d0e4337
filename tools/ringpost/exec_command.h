// exec_command.h: `ringpost exec`: runs an unmodified RDMA program on virtual ConnectX devices.
#pragma once

#include <string>
#include <vector>

#include "tools/ringpost/exec_outputs.h"

namespace ringpost::tools {

struct ExecArguments {
  std::string config;             // empty: defaults
  std::vector<std::string> sets;  // each --set
  ExecFiles files;
  std::vector<std::string> program;
};

// Returns the program's exit status, 128 + n where signal n ended it, and 127 or 126 where it is
// not there or cannot run, as a shell does. Signals that end programs are passed on to it. Throws
// config::ConfigError. The files that are asked for are written whatever becomes of the program.
int RunExecCommand(const ExecArguments& arguments);

}  // namespace ringpost::tools
