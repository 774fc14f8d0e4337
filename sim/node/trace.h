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

class Trace {
 public:
  void Enable() { on_ = true; }
  bool On() const { return on_; }
  void Add(const TraceStep& step) {
    if (on_) steps_.push_back(step);
  }
  const std::vector<TraceStep>& Steps() const { return steps_; }

 private:
  bool on_ = false;
  std::vector<TraceStep> steps_;
};

}  // namespace ringpost::sim
