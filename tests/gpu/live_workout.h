// live_workout.h: what a GPU's threads do to the live NIC in tests, free of CUDA's headers.
//
// Two ranks on one GPU, a kernel each at the same time. Every thread puts to its slot at the peer,
// gets that back, puts with a signal, adds to a counter of its own there and to one that all share;
// it checks what it got, what its peer's thread put, and what its counter held before.
#pragma once

#include <cstdint>
#include <string>

#include "transport/memory_span.h"
#include "transport/qp_view.h"
#include "transport/status.h"

namespace ringpost::gpu_test {

struct WorkoutShape {
  uint32_t threads = 1;
  uint32_t qps = 1;  // a divisor of `threads`
  uint32_t rounds = 1;
};

// Registered memory of a rank, as kernels lay it out.
inline constexpr uint64_t kThreadBytes = 512;
constexpr uint64_t ArenaBytes(uint32_t threads) { return kThreadBytes * (uint64_t{threads} + 1); }
// The counter that all threads of the peer add to.
constexpr uint64_t SharedCounterAt(uint32_t threads) { return kThreadBytes * threads; }
// What one round of one thread is.
inline constexpr uint64_t kOperationsPerRound = 5;

struct WorkoutRank {
  const QpView* views = nullptr;  // `qps` of them, which the GPU can read
  LocalSpan mine;                 // all of the arena
  RemoteSpan peers;
  RemoteSpan shared_counter;
};

// What all threads found, of both ranks.
struct WorkoutReport {
  uint64_t finished = 0;  // threads
  uint64_t wrong_gets = 0;
  uint64_t wrong_puts = 0;
  uint64_t wrong_counters = 0;
  uint64_t failed = 0;  // threads that ended with an error, of which this is one
  Completion error;
};

// Empty `refusal` if the kernels ran to their end; else what CUDA says, or that no such pair is.
WorkoutReport RunWorkout(const std::string& publication, const std::string& ordering,
                         const WorkoutShape& shape, const WorkoutRank (&ranks)[2],
                         std::string* refusal);

// One thread puts 8 bytes and waits, again and again, until an error: at most `most` times. What
// it ended with goes to `error`. Returns once the kernel runs; FinishPuts waits for its end.
struct PutsUntilError {
  const QpView* view = nullptr;
  RemoteSpan target;
  uint64_t most = 0;
};
struct PutsEnd {
  Completion last;
  uint64_t puts = 0;
};
class RunningPuts {
 public:
  explicit RunningPuts(const PutsUntilError& puts);
  RunningPuts(const RunningPuts&) = delete;
  RunningPuts& operator=(const RunningPuts&) = delete;
  ~RunningPuts();
  // How many have completed.
  uint64_t SoFar() const;
  PutsEnd Finish();
  const std::string& Refusal() const { return refusal_; }

 private:
  void* stream_ = nullptr;
  PutsEnd* end_ = nullptr;  // in pinned host memory
  std::string refusal_;
};

// Memory of views that kernels can read.
const QpView* CopyViews(const QpView* views, uint32_t count);
void FreeViews(const QpView* views);

}  // namespace ringpost::gpu_test
