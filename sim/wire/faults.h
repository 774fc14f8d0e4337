// faults.h: what goes wrong on purpose: an overlay over a NIC and a wire that are otherwise clean.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/time.h"

namespace ringpost::sim {

enum class FaultWhere : uint8_t { kResponder, kRequester };
enum class FaultKind : uint8_t { kDelay, kError };

// Applies to the WQEs that match every selector that is set. `qp` counts a node's QPs from 0 in
// order of creation; `wqe` is the WQE's index in WQEBBs.
struct FaultRule {
  FaultWhere where = FaultWhere::kResponder;
  FaultKind kind = FaultKind::kDelay;
  std::optional<uint32_t> node;  // the requester's
  std::optional<uint32_t> qp;
  std::optional<uint64_t> wqe;
  Duration amount;
};

class Faults {
 public:
  void Add(const FaultRule& rule) { rules_.push_back(rule); }
  bool Empty() const { return rules_.empty(); }
  const std::vector<FaultRule>& Rules() const { return rules_; }

  // The sum of the delays of all rules that match.
  Duration Delay(FaultWhere where, uint32_t node, uint32_t qp, uint64_t wqe) const {
    Duration sum;
    for (const FaultRule& rule : rules_) {
      if (rule.where == where && rule.kind == FaultKind::kDelay && Matches(rule, node, qp, wqe)) {
        sum += rule.amount;
      }
    }
    return sum;
  }

 private:
  static bool Matches(const FaultRule& rule, uint32_t node, uint32_t qp, uint64_t wqe) {
    return rule.node.value_or(node) == node && rule.qp.value_or(qp) == qp &&
           rule.wqe.value_or(wqe) == wqe;
  }
  std::vector<FaultRule> rules_;
};

}  // namespace ringpost::sim
