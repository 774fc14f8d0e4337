// station.h: a FIFO stage with one server: the recurrence departure = max(arrival, free) + service.
#pragma once

#include "sim/engine/time.h"
#include "sim/nic/step.h"

namespace ringpost::sim {

// How long a stage was in service.
struct StageUse {
  Stage stage;
  Duration busy;
};

class Station {
 public:
  // Serves an item that arrives at `arrival`; returns when it leaves.
  Time Serve(Time arrival, Duration service) {
    free_at_ = Later(arrival, free_at_) + service;
    busy_ += service;
    return free_at_;
  }
  // Keeps the server busy on something else from `from` on.
  void Block(Time from, Duration duration) { Serve(from, duration); }
  // Serves nothing before `time`.
  void HoldUntil(Time time) { free_at_ = Later(free_at_, time); }
  Time FreeAt() const { return free_at_; }
  Duration Busy() const { return busy_; }

 private:
  Time free_at_;
  Duration busy_;
};

}  // namespace ringpost::sim
