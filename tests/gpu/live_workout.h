// live_workout.h: what a GPU's threads do to the live NIC in tests, free of CUDA's headers.
//
// Two ranks on one GPU or on two, a kernel each at the same time. Every thread puts to its slot at
// the peer, gets that back, puts with a signal, adds to a counter of its own there and to one that
// all share; it checks what it got, what its peer's thread put, and what its counter held before.
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
  uint32_t block = 256;  // threads of a block, at most
};

// Registered memory of a rank, as kernels lay it out.
inline constexpr uint64_t kThreadBytes = 512;
constexpr uint64_t ArenaBytes(uint32_t threads) { return kThreadBytes * (uint64_t{threads} + 1); }
// The counter that all threads of the peer add to.
constexpr uint64_t SharedCounterAt(uint32_t threads) { return kThreadBytes * threads; }
// What one round of one thread is.
inline constexpr uint64_t kOperationsPerRound = 5;

struct WorkoutRank {
  int device = 0;                 // whose threads
  const QpView* views = nullptr;  // `qps` of them, which the GPU can read
  LocalSpan mine;                 // all of the arena
  RemoteSpan peers;
  RemoteSpan shared_counter;
};

// Where a thread ended with an error: at its post of that number in a round, or in a wait.
enum class Step : uint32_t { kPut, kGet, kPutSignal, kFetchAdd, kSignal, kWait, kWaitSignal };
struct WorkoutFailure {
  Completion error;
  uint32_t thread = 0;
  uint32_t round = 0;
  Step step = Step::kPut;
};

// What all threads of a rank found.
struct WorkoutReport {
  static constexpr uint32_t kKept = 64;
  uint64_t finished = 0;  // threads
  uint64_t wrong_gets = 0;
  uint64_t wrong_puts = 0;
  uint64_t wrong_counters = 0;
  uint64_t failed = 0;            // threads, of which the first are
  WorkoutFailure failure[kKept];  // these
};

// Empty if the kernels ran to their end; else what CUDA says, or that no such pair is.
std::string RunWorkout(const std::string& publication, const std::string& ordering,
                       const WorkoutShape& shape, const WorkoutRank (&ranks)[2],
                       WorkoutReport (&reports)[2]);

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

// A copy of views that kernels of that device can read.
const QpView* CopyViews(int device, const QpView* views, uint32_t count);
void FreeViews(const QpView* views);

}  // namespace ringpost::gpu_test
