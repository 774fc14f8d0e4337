// process_id.h: names a process for as long as the machine runs, also after its pid is used again.
#pragma once

#include <cstdint>

namespace ringpost::sim::service {

struct ProcessId {
  int32_t pid = 0;
  uint64_t start_time = 0;  // in clock ticks since the machine started

  static ProcessId OfThisProcess();

  // False once it has ended, also if nobody has reaped it yet.
  bool IsRunning() const;

  bool operator==(const ProcessId&) const = default;
};

// Pids mean something only within one pid namespace: a number that names this process's.
uint64_t PidNamespace();

}  // namespace ringpost::sim::service
