#include "tools/ringpost/sweep/time_left.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace ringpost::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kClearLine[] = "\r\x1b[K";
constexpr auto kBetweenLines = std::chrono::seconds(10);
constexpr uint64_t kMany = 1000;

std::string Duration(double seconds) {
  const auto whole = static_cast<uint64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

TimeLeft::TimeLeft(const char* doing, uint64_t total, uint64_t done)
    : doing_(doing),
      total_(total),
      done_(done),
      done_before_(done),
      terminal_(isatty(STDERR_FILENO) == 1),
      begun_(Clock::now()),
      shown_(begun_) {
  if (!terminal_ && total - done >= kMany) fmt::print(stderr, "ringpost sweep: {}\n", Text());
}

TimeLeft::~TimeLeft() {
  if (terminal_) fmt::print(stderr, "{}", kClearLine);
}

std::string TimeLeft::Text() const {
  std::string text = fmt::format("{}{}/{} points", doing_, done_, total_);
  const uint64_t ran = done_ - done_before_;
  if (ran == 0) return text;
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  const double left = seconds / static_cast<double>(ran) * static_cast<double>(total_ - done_);
  return fmt::format("{}, about {} left", text, Duration(left));
}

void TimeLeft::Done() {
  ++done_;
  if (terminal_) {
    fmt::print(stderr, "{}{}", kClearLine, Text());
    std::fflush(stderr);
  }
}

void TimeLeft::Tick() {
  const auto now = Clock::now();
  if (terminal_ || now - shown_ < kBetweenLines) return;
  shown_ = now;
  fmt::print(stderr, "ringpost sweep: {}\n", Text());
}

}  // namespace ringpost::tools
