// outcome.h: what the threads of one run report back: the first failure wins.
#pragma once

#include <cstdint>
#include <string>

#include "transport/status.h"

namespace ringpost::workloads {

struct Outcome {
  bool ok = true;
  std::string error;

  void Fail(std::string what) {
    if (ok) error = std::move(what);
    ok = false;
  }
  // False, and noted, when the completion is not good.
  bool Expect(const Completion& completion, const char* what);
};

}  // namespace ringpost::workloads
