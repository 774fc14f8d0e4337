// progress.h: one line on the terminal while long work runs.
#pragma once

#include <cstddef>
#include <string>

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
  size_t total_;
  size_t started_ = 0;
  bool shown_;
};

}  // namespace ringpost::tools
