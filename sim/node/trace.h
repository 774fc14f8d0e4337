// trace.h: the steps of a run in order, for --trace. Off: one branch a step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/time.h"
#include "sim/nic/step.h"

namespace ringpost::sim {

// One step of one WQE: it left `stage` at `end`, having entered service at `begin`. Of kDoorbell
// and kFetch, which serve several WQEs at a time, the last one; of kRespond, `qpn` is the
// responder's.
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

// What a thread did from which one can tell whose puts it posted and saw complete.
enum class ThreadAct : uint8_t {
  kClock,  // read its clock
  kWqe,    // stored a WQE
  kCqe,    // read a CQE
};

struct ThreadStep {
  ThreadAct act = ThreadAct::kClock;
  uint32_t node = 0;
  uint32_t thread = 0;
  uint32_t qpn = 0;    // kWqe, kCqe
  uint64_t index = 0;  // kWqe: of its first WQEBB; kCqe: the 16 bits that it names
  Time begin;
  Time end;
};

class Trace {
 public:
  void Enable() { on_ = true; }
  bool On() const { return on_; }
  // For callers that have looked at On(): a run without a trace pays for one branch.
  [[gnu::noinline]] void Add(const TraceStep& step) { steps_.push_back(step); }
  [[gnu::noinline]] void Add(const TraceCqe& cqe) { cqes_.push_back(cqe); }
  [[gnu::noinline]] void Add(const ThreadStep& step) { threads_.push_back(step); }
  const std::vector<TraceStep>& Steps() const { return steps_; }
  // Those of one thread in its order.
  const std::vector<ThreadStep>& Threads() const { return threads_; }
  // In the order of writing.
  const std::vector<TraceCqe>& Cqes() const { return cqes_; }

 private:
  bool on_ = false;
  std::vector<TraceStep> steps_;
  std::vector<ThreadStep> threads_;
  std::vector<TraceCqe> cqes_;
};

}  // namespace ringpost::sim
