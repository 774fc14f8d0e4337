// run_command.h: `ringpost run`: one workload on one backend.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tools/ringpost/experiment.h"
#include "tools/ringpost/sources.h"
#include "workloads/runner.h"

namespace ringpost::tools {

struct RunArguments {
  ConfigOptions options;
  std::string json;                          // empty: none
  std::string trace;                         // empty: none
  std::string pcap;                          // empty: none
  std::string lookups = {};                  // empty: none
  std::optional<std::string> timeline = {};  // as ParseWish() takes it; none: not asked for
  bool quiet = false;
  // Of backend live: all ranks as processes of this machine, or one rank among others.
  uint32_t processes = 1;
  std::optional<uint32_t> rank = {};
  std::optional<uint32_t> ranks = {};
  std::string rendezvous = {};  // HOST:PORT
};

// Prints the result, writes the files and returns the exit status: 3 for violations, unless
// transport.unsafe asked for them. Throws config::ConfigError.
int RunRunCommand(const RunArguments& arguments, std::ostream& out);

// The result as text for people and as JSON.
std::string ResultText(const Experiment& experiment, const workloads::RunResult& result);
std::string ResultJson(const Experiment& experiment, const workloads::RunResult& result);

}  // namespace ringpost::tools
