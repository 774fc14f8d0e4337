// progress.h: one line on the terminal while long work runs: what it is, and for how long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace ringpost::tools {

// Writes to stderr, and only where that is a terminal. The destructor takes the line away.
class Progress final {
 public:
  explicit Progress(size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The next of `total` pieces of work starts.
  void Next(const std::string& name);

 private:
  void Show();
  void Tick();

  const size_t total_;
  const bool shown_;
  std::mutex mutex_;
  std::condition_variable ended_;  // guarded by mutex_, as are the rest
  bool over_ = false;
  size_t started_ = 0;
  std::string name_;
  std::chrono::steady_clock::time_point begin_;
  std::thread clock_;  // shows the seconds; where there is a terminal
};

}  // namespace ringpost::tools
