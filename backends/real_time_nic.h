// real_time_nic.h: a NIC in real time, as a run of several ranks needs it beyond transport/nic.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/nic.h"

namespace ringpost {

class RealTimeNic : public Nic {
 public:
  // Where other NICs find this one, for their Meet(). Empty: there is nothing to say.
  virtual std::string Whereabouts() const { return {}; }
  virtual Result<bool> Meet(const std::string&) { return true; }

  // Empty while it works; else one line.
  virtual std::string Failure() const = 0;

  using Count = std::pair<std::string, uint64_t>;
  virtual Result<std::vector<Count>> Counts() { return std::vector<Count>(); }

  // Of completions that a NIC held until the platform's time for them.
  struct Pacing {
    uint64_t held = 0;
    uint64_t late = 0;  // came after that time
    uint64_t late_median_ns = 0;
    uint64_t late_p99_ns = 0;
    uint64_t late_max_ns = 0;
  };
  virtual std::optional<Pacing> Paced() { return std::nullopt; }

  // What it is and how it waits, for the report of a measured run.
  using Fact = std::pair<std::string, std::string>;
  virtual std::vector<Fact> Facts() const = 0;
};

}  // namespace ringpost
