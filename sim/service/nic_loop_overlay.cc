// What is put on top of a NIC and its wire: faults, and what it writes down of itself.
#include "sim/service/nic_loop.h"

namespace ringpost::sim::service {

NicLoop::~NicLoop() {
  if (observer_ != nullptr) WriteCounts();
}

// For a program that is killed, they are never older than a pause, or kTurnsPerCounts turns.
void NicLoop::WriteCounts() {
  observer_->BeginCounts();
  const auto add = [this](const char* name, uint64_t value) { observer_->Count(name, value); };
  ForEachCounter(nic_.Count(), add);
  ForEachCounter(count_, add);
  ForEachCounter(port_->Counters(), add);
  ForEachCounter(faults_.Count(), add);
  if (pace_) ForEachCounter(pace_->Count(), add);
  if (packet_log_ != nullptr) add("packets_not_logged", packet_log_->Lost());
  observer_->EndCounts();
}

void NicLoop::InjectErrors(QpContext& qp, uint32_t number) {
  for (const FaultRule& rule : faults_.Rules()) {
    const bool here = rule.kind == FaultKind::kError &&
                      rule.node.value_or(faults_.Node()) == faults_.Node() &&
                      rule.qp.value_or(number) == number;
    if (here) nic_.InjectFailure(qp, {rule.wqe.value_or(0), rule.syndrome});
  }
}

bool NicLoop::LaunchFaulty(Lane& lane, const Address& to, uint64_t wqe, bool answer) {
  const uint32_t number = (lane.qp->qpn & 0xffff) - Rnic::kFirstQpn;
  const FaultPoint point{faults_.Node(), number, wqe, wqe + (answer ? 0 : 1)};
  faults_.Put(point, now_, lane.leaves[answer ? 1 : 0], to, packet_);
  DepartDue();
  return !held_.full;
}

// What has been held back by a fault, and is due.
void NicLoop::DepartDue() {
  while (!held_.full) {
    const WireFaults::Departure* due = faults_.Due(now_);
    if (due == nullptr) return;
    Depart(due->target, due->packet);
    faults_.Pop();
  }
}

}  // namespace ringpost::sim::service
