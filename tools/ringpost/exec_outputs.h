// exec_outputs.h: what `ringpost exec` writes of the program that it ran: counters, a trace and a
// capture, from what the NICs of all its processes have left in a folder
// (sim/service/observation.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/uverbs/settings.h"
#include "sim/wire/codec.h"
#include "tools/ringpost/output_file.h"

namespace ringpost::tools {

// Empty: none.
struct ExecFiles {
  std::string json;
  std::string trace;
  std::string pcap;
  bool Any() const { return !json.empty() || !trace.empty() || !pcap.empty(); }
};

class ExecOutputs {
 public:
  // Throws config::ConfigError for a file that cannot be written; `config` is read, or empty.
  ExecOutputs(const ExecFiles& files, const std::string& config);

  // What the NICs are to write down; `steps`: the last ones of each, for a trace.
  sim::uverbs::Observing Wanted(uint32_t steps) const;

  // The program has ended. Throws std::runtime_error. Says on stderr what is not whole.
  void Write(const std::string& folder, const std::vector<std::string>& program, int status,
             sim::wire::Link link);

 private:
  std::optional<OutputFile> json_;
  std::optional<OutputFile> trace_;
  std::optional<OutputFile> pcap_;
};

}  // namespace ringpost::tools
