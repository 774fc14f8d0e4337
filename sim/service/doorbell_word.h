// doorbell_word.h: a word in shared memory on which one thread sleeps until another rings.
//
// Both sides use sequentially consistent accesses: either the sleeper sees what was published
// before Ring(), or Ring() sees that somebody sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ringpost::sim::service {

class DoorbellWord {
 public:
  // The owner, before anybody can ring. While it is off, Ring() costs one load of a word that does
  // not change.
  void AllowSleep(bool allowed) { may_sleep_.store(allowed, std::memory_order_relaxed); }
  bool MaySleep() const { return may_sleep_.load(std::memory_order_relaxed) != 0; }

  // Returns at once if `has_work()` holds, else after a ring or the time-out. It may also return
  // for no reason.
  template <class HasWork>
  void Sleep(std::chrono::nanoseconds timeout, HasWork&& has_work) {
    state_.store(kAsleep, std::memory_order_seq_cst);
    if (!has_work()) Wait(timeout);
    state_.store(kAwake, std::memory_order_relaxed);
  }

  // After a sequentially consistent store of what is to be seen.
  void Ring() {
    if (state_.load(std::memory_order_seq_cst) == kAsleep) Wake();
  }

 private:
  static constexpr uint32_t kAwake = 0;
  static constexpr uint32_t kAsleep = 1;

  void Wait(std::chrono::nanoseconds timeout);
  void Wake();

  std::atomic<uint32_t> state_{kAwake};
  std::atomic<uint32_t> may_sleep_{0};
};

}  // namespace ringpost::sim::service
