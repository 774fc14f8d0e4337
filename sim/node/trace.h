// trace.h: the steps of a run in order, for --trace. Off: one branch a step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/time.h"
#include "sim/nic/step.h"

namespace ringpost::sim {

// One step of one WQE: it left `stage` at `end`, having entered service at `begin`.
struct TraceStep {
  Stage stage = Stage::kDoorbell;
  uint32_t node = 0;
  uint32_t qpn = 0;
  uint64_t index = 0;
  Time begin;
  Time end;
};

// A CQE as the NIC wrote it.
struct TraceCqe {
  uint32_t node = 0;
  uint32_t qpn = 0;
  uint8_t opcode = 0;
  uint8_t syndrome = 0;  // of an error CQE
  uint16_t counter = 0;

  bool operator==(const TraceCqe&) const = default;
};

class Trace {
 public:
  void Enable() { on_ = true; }
  bool On() const { return on_; }
  // For callers that have looked at On(): a run without a trace pays for one branch.
  [[gnu::noinline]] void Add(const TraceStep& step) { steps_.push_back(step); }
  [[gnu::noinline]] void Add(const TraceCqe& cqe) { cqes_.push_back(cqe); }
  const std::vector<TraceStep>& Steps() const { return steps_; }
  // In the order of writing.
  const std::vector<TraceCqe>& Cqes() const { return cqes_; }

 private:
  bool on_ = false;
  std::vector<TraceStep> steps_;
  std::vector<TraceCqe> cqes_;
};

}  // namespace ringpost::sim
