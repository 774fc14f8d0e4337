// step.h: where a thread is in an operation, for a port that is told so (port.h, Enter).
#pragma once

#include <cstdint>

namespace ringpost {

// In the order in which an operation comes to them. `built`, `ring` and `rung` are each WQE's and
// each doorbell's, `wait` each queue pair's that a wait or a quiet looks at.
enum class Step : uint8_t {
  kBuild,      // slots are reserved, nothing is stored yet
  kBuilt,      // the WQE's bytes are stored, nothing is ordered or told yet
  kRing,       // before the doorbell record
  kRung,       // after the doorbell
  kWait,       // before the first look at completions
  kPoll,       // before each look
  kArrived,    // the CQE was seen, and nothing is ordered after it yet
  kSignalled,  // the same of a word that the peer writes
  kQuieted,    // all that a wait or a quiet is for is done
};
inline constexpr uint32_t kSteps = 9;

}  // namespace ringpost
