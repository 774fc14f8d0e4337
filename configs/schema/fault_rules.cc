#include "configs/schema/fault_rules.h"

#include <array>

#include "transport/abi/cqe.h"

namespace ringpost::config {
namespace {

// Both have the words of the file in its order.
static_assert(static_cast<int>(FaultPlace::kFetch) == static_cast<int>(sim::FaultWhere::kFetch));
static_assert(static_cast<int>(FaultKind::kLinkDown) ==
              static_cast<int>(sim::FaultKind::kLinkDown));

constexpr std::array kSyndromes = {abi::Syndrome::kLocalLength,
                                   abi::Syndrome::kLocalQpOperation,
                                   abi::Syndrome::kLocalProtection,
                                   abi::Syndrome::kRemoteInvalidRequest,
                                   abi::Syndrome::kRemoteAccess,
                                   abi::Syndrome::kRemoteOperation,
                                   abi::Syndrome::kTransportRetryExceeded,
                                   abi::Syndrome::kRnrRetryExceeded};
static_assert(kSyndromes.size() == static_cast<size_t>(FaultSyndrome::kRnrRetryExceeded) + 1);

sim::FaultRule RuleOf(const FaultRule& rule) {
  sim::FaultRule made;
  made.where = static_cast<sim::FaultWhere>(rule.where);
  made.kind = static_cast<sim::FaultKind>(rule.kind);
  if (rule.rank) made.node = static_cast<uint32_t>(*rule.rank);
  if (rule.qp) made.qp = static_cast<uint32_t>(*rule.qp);
  made.wqe = rule.wqe;
  made.amount = rule.amount;
  made.probability = rule.probability_percent / 100;
  made.count = rule.count;
  made.syndrome = kSyndromes[static_cast<size_t>(rule.syndrome)];
  return made;
}

}  // namespace

std::vector<sim::FaultRule> FaultRulesOf(const FaultsConfig& faults) {
  std::vector<sim::FaultRule> rules;
  for (const FaultRule& rule : faults.rules) rules.push_back(RuleOf(rule));
  return rules;
}

}  // namespace ringpost::config
