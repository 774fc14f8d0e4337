// child_ranks.h: the other ranks of a run of several processes on this machine: this program again,
// with a rank each.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ringpost::tools {

class ChildRanks final {
 public:
  // `arguments`: of the command line, without those that say which rank it is.
  ChildRanks(std::vector<std::string> arguments, uint32_t ranks)
      : arguments_(std::move(arguments)), ranks_(ranks) {}
  ChildRanks(const ChildRanks&) = delete;
  ChildRanks& operator=(const ChildRanks&) = delete;
  // Ends those that still run.
  ~ChildRanks();

  // Ranks 1 to ranks - 1, which meet rank 0 at this port of the machine. Throws
  // std::runtime_error.
  void Start(uint16_t port);
  // Until all have ended. Empty, or which one failed; what it had to say is on stderr.
  std::string Wait();

 private:
  std::vector<std::string> arguments_;
  uint32_t ranks_;
  std::vector<pid_t> children_;
};

}  // namespace ringpost::tools
