// robust_mutex.h: a mutex in shared memory that the death of its holder does not block.
//
// What it guards must be consistent after every single store, as a holder may die between any two.
#pragma once

#include <pthread.h>

#include <chrono>
#include <optional>

namespace ringpost::sim::service {

class RobustMutex {
 public:
  // Once, before anybody else sees the memory.
  void Initialise();

  // Holds the mutex until the end of its scope.
  class Guard {
   public:
    explicit Guard(pthread_mutex_t* mutex) : mutex_(mutex) {}
    Guard(Guard&& other) noexcept : mutex_(other.mutex_) { other.mutex_ = nullptr; }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() {
      if (mutex_ != nullptr) pthread_mutex_unlock(mutex_);
    }

   private:
    pthread_mutex_t* mutex_;
  };

  // Nothing if it is still held by another at the deadline.
  std::optional<Guard> Lock(std::chrono::milliseconds deadline);

 private:
  pthread_mutex_t mutex_;
};

}  // namespace ringpost::sim::service
