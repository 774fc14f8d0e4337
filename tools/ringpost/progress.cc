#include "tools/ringpost/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace ringpost::tools {

namespace {
constexpr char kClearLine[] = "\r\x1b[K";
}  // namespace

Progress::Progress(size_t total) : total_(total), shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "{}", kClearLine);
}

void Progress::Next(const std::string& name) {
  ++started_;
  if (!shown_) return;
  fmt::print(stderr, "{}{}/{} {:.60}", kClearLine, started_, total_, name);
  std::fflush(stderr);
}

}  // namespace ringpost::tools
