// The timers of QPs. The function says which to run; here they run.
#include "sim/nic/timer_codes.h"
#include "sim/node/nic_node.h"

namespace ringpost::sim {

void NicNode::StartTimer(Lane& lane, const TimerRequest& request) {
  const uint64_t ns = request.kind == TimerKind::kAck
                          ? AckTimeoutNs(request.code, nic_.Config().behaviour)
                          : RnrDelayNs(request.code);
  if (ns == 0) return;
  Lane::Timer& timer = lane.timers[static_cast<size_t>(request.kind)];
  timer.due = engine_.Now() + Duration{static_cast<int64_t>(ns) * 1000};
  timer.generation = request.generation;
  engine_.ScheduleTimer(timer.due, lane.timer_event);
}

void NicNode::OnTimer(Lane& lane) {
  for (size_t kind = 0; kind < lane.timers.size(); ++kind) {
    Lane::Timer& timer = lane.timers[kind];
    // A later one may have replaced it.
    if (engine_.Now() < timer.due || timer.due == Time::Never()) continue;
    timer.due = Time::Never();
    dma_time_ = engine_.Now();
    const Facts facts = nic_.OnTimer(*lane.qp, static_cast<TimerKind>(kind), timer.generation);
    Arm(lane, facts.timer);
    if (nic_.HasEvents()) OnFunctionEvents();
    Kick(lane);
  }
}

}  // namespace ringpost::sim
