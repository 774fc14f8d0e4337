// exit_status.h: what the program answers to a shell.
#pragma once

namespace ringpost::tools {

enum ExitStatus : int {
  kClean = 0,
  kFailed = 1,    // could not run, or an operation failed
  kBadInput = 2,  // a wrong option or configuration; nothing was run or written
  kFound = 3,     // misses or violations
};

}  // namespace ringpost::tools
