#include "sim/service/doorbell_word.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace ringpost::sim::service {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
static_assert(std::atomic<uint32_t>::is_always_lock_free);

void DoorbellWord::Wait(std::chrono::nanoseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec relative{.tv_sec = seconds.count(), .tv_nsec = (timeout - seconds).count()};
  // Not the private form: the one who rings may be another process.
  syscall(SYS_futex, &state_, FUTEX_WAIT, kAsleep, &relative, nullptr, 0);
}

void DoorbellWord::Wake() {
  if (state_.exchange(kAwake, std::memory_order_seq_cst) != kAsleep) return;
  syscall(SYS_futex, &state_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace ringpost::sim::service
