// own_calls.h: this library's own calls of the system come through the functions that it interposes
// too. They go on to the system at once: to look whether they are a program's would take locks that
// the caller has, or that are held by a thread which waits for the caller.
#pragma once

#include <utility>

namespace ringpost::sim::uverbs {

// Whether the calling thread is in this library: while an OwnCalls of its lives. The thread of a
// NIC always is.
inline thread_local bool t_own_calls = false;

class OwnCalls {
 public:
  OwnCalls() : before_(std::exchange(t_own_calls, true)) {}
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;
  ~OwnCalls() { t_own_calls = before_; }

 private:
  const bool before_;
};

}  // namespace ringpost::sim::uverbs
