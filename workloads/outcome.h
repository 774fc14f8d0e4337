// outcome.h: what the threads of one run report back: the first failure wins.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "transport/status.h"

namespace ringpost::workloads {

// What a thread was at when something went wrong.
enum class Act : uint8_t { kPut, kSignal, kLastPut };

struct Outcome {
  bool ok = true;
  std::string error;
  bool flushed = false;  // a WQE behind the one that failed says so

  // Any thread may call; the rest is read when no kernel runs.
  void Fail(std::string what) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (ok) error = std::move(what);
    ok = false;
  }
  // False, and noted, when the completion is not good.
  bool Expect(const Completion& completion, Act act);

  std::mutex mutex;
};

}  // namespace ringpost::workloads
