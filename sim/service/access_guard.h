// access_guard.h: accesses of a NIC's thread to memory that its program may have unmapped
// meanwhile.
//
// A fault in one ends it, and nothing else: the handler of SIGSEGV and SIGBUS leaves it by a jump.
// A fault elsewhere is the program's, and goes to the handler that was there before. Threads that
// use it must not block these signals.
#pragma once

#include <setjmp.h>

#include <atomic>
#include <cstdint>

namespace ringpost::sim::service {

class AccessGuard {
 public:
  // Puts the handlers in place, also where somebody has replaced them since. Any thread.
  static void Install();
  // The calling thread gets these signals from here on.
  static void Unblock();

  // Runs `access`, which touches [address, address + bytes) and holds nothing that would have to be
  // destroyed. False: the memory is not there, or not for this; what it did until then stays.
  template <class Access>
  static bool Run(uint64_t address, uint64_t bytes, Access&& access) {
    Frame frame{address, bytes, {}};
    if (sigsetjmp(frame.back, /*savemask=*/0) != 0) {
      Enter(nullptr);
      return false;
    }
    Enter(&frame);
    access();
    Enter(nullptr);
    return true;
  }

 private:
  struct Frame {
    uint64_t address = 0;
    uint64_t bytes = 0;
    sigjmp_buf back;
  };
  // The fences keep the access between the two calls: the handler, which runs on this thread,
  // relies on it.
  static void Enter(Frame* frame) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_frame = frame;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  friend struct AccessGuardHandler;

  static inline thread_local Frame* t_frame = nullptr;
};

}  // namespace ringpost::sim::service
