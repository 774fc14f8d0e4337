// driver_watch.h: says so where the NIC's thread waits for CUDA and nothing comes.
//
// CUDA makes some calls of a program wait for all kernels that run (cudaFree, cudaFreeHost,
// cudaHostUnregister, the first launch of a lazily loaded kernel), and other threads' calls wait
// behind those. If such a kernel waits for the NIC, nobody goes on: hardware would, and a program
// that hangs without a word is taken for a fault of its own.
#pragma once

#include <chrono>

namespace ringpost::sim::uverbs::gpu {

inline constexpr std::chrono::seconds kWatchPatience{4};

// One line on stderr that names the cause.
void SayStuck(const char* what);

// Around a call to the driver, of any thread: after kWatchPatience another thread says that it is
// stuck, once. `what` lasts.
class WatchedCall {
 public:
  explicit WatchedCall(const char* what);
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;
  ~WatchedCall();

 private:
  int slot_;  // -1: too many at once, and nobody looks
};

}  // namespace ringpost::sim::uverbs::gpu
