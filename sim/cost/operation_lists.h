// operation_lists.h: memory operations that a library has at the steps of a put, beside those of
// the transport: read from a file of configs/libraries, and done by its threads in virtual time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "transport/step.h"

namespace ringpost::sim {

// Each is of a kind that a platform has a cost for (configs/README.md). What a thread does not wait
// for (stores, reductions, rings) costs what issuing it does.
enum class OperationKind : uint8_t {
  kLoadGpu,
  kLoadLocal,
  kStore,
  kStoreReleaseGpu,
  kAtomicGpu,
  kReductionGpu,
  kFenceCta,
  kFenceAcqRelGpu,
  kFenceAcquire,
  kFenceScGpu,
  kFenceAcqRelSystem,
  kFenceScSystem,
  kShuffle,
  kSyncWarp,
  kRing,
};

struct Operation {
  OperationKind kind;
  uint32_t count;
};

// By step, in the order in which a thread does them.
class OperationLists {
 public:
  std::vector<Operation>& At(Step step) { return lists_[static_cast<size_t>(step)]; }
  const std::vector<Operation>& At(Step step) const { return lists_[static_cast<size_t>(step)]; }
  bool Empty() const {
    for (const auto& list : lists_) {
      if (!list.empty()) return false;
    }
    return true;
  }

 private:
  std::array<std::vector<Operation>, kSteps> lists_;
};

}  // namespace ringpost::sim
