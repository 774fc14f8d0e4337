#include "sim/wire/faults.h"

#include <limits>
#include <string>

namespace ringpost::sim {

void Faults::Add(const FaultRule& rule) {
  const uint64_t usual =
      rule.kind == FaultKind::kLinkDown ? 1 : std::numeric_limits<uint64_t>::max();
  states_.push_back(
      {Rng(seed_, "fault " + std::to_string(rules_.size())), rule.count.value_or(usual)});
  rules_.push_back(rule);
  if (rule.kind != FaultKind::kError) at_[static_cast<size_t>(rule.where)] = true;
}

bool Faults::Matches(const FaultRule& rule, const FaultPoint& point) {
  return rule.node.value_or(point.node) == point.node && rule.qp.value_or(point.qp) == point.qp &&
         (!rule.wqe || (point.wqe <= *rule.wqe && *rule.wqe < point.end));
}

bool Faults::Strikes(size_t rule) {
  State& state = states_[rule];
  if (state.left == 0) return false;
  // The upper 53 bits are a number in [0, 1).
  const double probability = rules_[rule].probability;
  if (probability < 1 && static_cast<double>(state.random.Next() >> 11) >= probability * 0x1p53) {
    return false;
  }
  --state.left;
  return true;
}

FaultVerdict Faults::Judge(FaultWhere where, const FaultPoint& point, Time now) {
  FaultVerdict verdict;
  for (size_t i = 0; i < rules_.size(); ++i) {
    const FaultRule& rule = rules_[i];
    if (rule.where != where || rule.kind == FaultKind::kError || !Matches(rule, point) ||
        !Strikes(i)) {
      continue;
    }
    switch (rule.kind) {
      case FaultKind::kDelay:
      case FaultKind::kPause:
        verdict.delay += rule.amount;
        break;
      case FaultKind::kReorder:
        verdict.held += rule.amount;
        break;
      case FaultKind::kDrop:
        verdict.lost = true;
        break;
      case FaultKind::kCorrupt:
        verdict.corrupt = true;
        break;
      case FaultKind::kDuplicate:
        verdict.again = rule.amount;
        break;
      case FaultKind::kLinkDown:
        if (down_until_.size() <= point.node) down_until_.resize(point.node + 1);
        down_until_[point.node] = Later(down_until_[point.node], now + rule.amount);
        break;
      case FaultKind::kError:
        break;
    }
  }
  return verdict;
}

}  // namespace ringpost::sim
