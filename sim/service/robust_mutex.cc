#include "sim/service/robust_mutex.h"

#include <time.h>

#include <cerrno>

#include "sim/engine/check.h"

namespace ringpost::sim::service {
namespace {

timespec FromNow(std::chrono::milliseconds duration) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t ns = now.tv_nsec + duration.count() % 1'000 * 1'000'000;
  now.tv_sec += duration.count() / 1'000 + ns / 1'000'000'000;
  now.tv_nsec = ns % 1'000'000'000;
  return now;
}

}  // namespace

void RobustMutex::Initialise() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int error = pthread_mutex_init(&mutex_, &attributes);
  pthread_mutexattr_destroy(&attributes);
  RINGPOST_CHECK(error == 0, "a robust mutex cannot be made");
}

std::optional<RobustMutex::Guard> RobustMutex::Lock(std::chrono::milliseconds deadline) {
  const timespec end = FromNow(deadline);
  const int error = pthread_mutex_timedlock(&mutex_, &end);
  if (error == ETIMEDOUT) return std::nullopt;
  // Its holder died. What it guards is consistent anyway.
  if (error == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  RINGPOST_CHECK(error == 0 || error == EOWNERDEAD, "a robust mutex cannot be locked");
  return Guard(&mutex_);
}

}  // namespace ringpost::sim::service
