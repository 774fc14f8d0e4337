// workout_ranks.h: the workout of live_workout.h between two ranks, each a GPU with a NIC of some
// backend in this process: one GPU as both, or two.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tests/gpu/live_workout.h"
#include "transport/memory/cuda_memory.h"
#include "transport/nic.h"
#include "transport/result.h"

namespace ringpost::gpu_test {

// A NIC for each rank.
class RankNics {
 public:
  virtual ~RankNics() = default;
  virtual Nic& nic(uint32_t rank) = 0;
  // What the NICs counted or said, for the line of a failure.
  virtual std::string Story() = 0;
};

class Workout {
 public:
  static constexpr uint64_t kHangGuardPs = 30'000'000'000'000;

  virtual ~Workout() = default;

  // Runs the shape with NICs of its own; true if everything was as it must be, else said() tells.
  bool Run(const std::string& publication, const std::string& ordering, Placement placement,
           const WorkoutShape& shape, const QpSpec& spec);
  // A thread for each QP, and a doorbell for each operation or each batch.
  void RunOwned(const std::string& publication, const std::string& ordering, Placement placement,
                TransportKind kind = TransportKind::kRc);
  // Threads that share QPs: one warp, eight, and 4,096 threads.
  void RunShared(const std::string& publication, const std::string& ordering, Placement placement,
                 TransportKind kind = TransportKind::kRc);

  CudaMemory& MemoryOf(uint32_t rank) { return devices[rank] == 0 ? memory : second; }
  static const std::string& Said() { return said_; }
  // Of all workouts of this process.
  static uint64_t Operations() { return operations_; }

 protected:
  virtual Result<std::unique_ptr<RankNics>> Open() = 0;

  int devices[2] = {0, 0};  // by rank
  CudaMemory memory{0};     // these outlive the NICs
  CudaMemory second{1};

 private:
  struct Side;
  bool Check(const std::string& publication, const std::string& ordering, const WorkoutShape& shape,
             const Side (&sides)[2]);
  static bool Says(const std::string& what);

  static inline std::string said_;
  static inline uint64_t operations_ = 0;
};

// The views of a new QP of each rank, to the other.
Result<std::pair<QpView, QpView>> ConnectPair(RankNics& nics, const QpSpec& spec);

}  // namespace ringpost::gpu_test
