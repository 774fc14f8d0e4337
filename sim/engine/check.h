// check.h: assertions that are always on. A failed one is a bug of the program, never of its user.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace ringpost::sim {

[[noreturn]] inline void CheckFailed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: internal error: %s\n", file, line, what);
  std::abort();
}

}  // namespace ringpost::sim

#define RINGPOST_CHECK(condition, what) \
  ((condition) ? void(0) : ::ringpost::sim::CheckFailed(__FILE__, __LINE__, what))
