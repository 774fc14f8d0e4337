// time_left.h: how far a sweep has come, on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ringpost::tools {

// On a terminal one line that changes with each point; elsewhere, as in the log of a cluster's job,
// a line every ten seconds, and one at once where the points are many.
class TimeLeft final {
 public:
  // `total` points, of which `done` need not run. `doing` stands before their count: "checking ".
  TimeLeft(const char* doing, uint64_t total, uint64_t done);
  // Takes the line away.
  ~TimeLeft();
  TimeLeft(const TimeLeft&) = delete;
  TimeLeft& operator=(const TimeLeft&) = delete;

  void Done();
  // Shows it again if it is time for that.
  void Tick();

 private:
  std::string Text() const;

  const char* const doing_;
  const uint64_t total_;
  uint64_t done_;
  const uint64_t done_before_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace ringpost::tools
