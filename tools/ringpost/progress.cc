#include "tools/ringpost/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "tools/ringpost/error_line.h"

namespace ringpost::tools {

namespace {
constexpr char kClearLine[] = "\r\x1b[K";
}  // namespace

Progress::Progress(size_t total) : total_(total), shown_(isatty(STDERR_FILENO) == 1) {
  if (shown_) clock_ = std::thread([this] { Tick(); });
}

Progress::~Progress() {
  if (!shown_) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  clock_.join();
  fmt::print(stderr, "{}", kClearLine);
}

void Progress::Next(const std::string& name) {
  if (!shown_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  ++started_;
  name_ = Escaped(name);
  begin_ = std::chrono::steady_clock::now();
  Show();
}

// Of what takes no second, no second is shown.
void Progress::Show() {
  const auto taken =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin_);
  const std::string time = taken.count() == 0 ? "" : fmt::format(", {} s", taken.count());
  fmt::print(stderr, "{}{}/{} {:.60}{}", kClearLine, started_, total_, name_, time);
  std::fflush(stderr);
}

void Progress::Tick() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return over_; })) {
    if (started_ != 0) Show();
  }
}

}  // namespace ringpost::tools
