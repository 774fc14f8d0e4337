#include "sim/engine/engine.h"

#include "sim/engine/check.h"

namespace ringpost::sim {

uint32_t Engine::Register(HandlerFn fn, void* context) {
  RINGPOST_CHECK(handlers_.size() < (1u << Event::kNodeBits), "too many event handlers");
  handlers_.push_back({fn, context});
  return static_cast<uint32_t>(handlers_.size() - 1);
}

uint32_t Engine::RegisterTimer(HandlerFn fn, NeededFn needed, void* context) {
  timer_handlers_.push_back({fn, needed, context});
  return static_cast<uint32_t>(timer_handlers_.size() - 1);
}

Event Engine::PopTimer() {
  const Event event = timers_.Pop();
  next_timer_.ps = timers_.Empty() ? Time::Never().ps : timers_.Top().time_ps;
  return event;
}

void Engine::DropTimers() {
  while (!timers_.Empty()) {
    const TimerHandler& handler = timer_handlers_[timers_.Top().Node()];
    if (handler.needed(handler.context)) return;
    PopTimer();
  }
}

void Engine::Run(Time limit) {
  stopped_ = false;
  limit_ = limit;
  while (!stopped_) {
    if (queue_.Empty()) [[unlikely]] {
      DropTimers();
      if (timers_.Empty()) return;
    }
    if (TimerIsNext()) [[unlikely]] {
      if (limit < next_timer_) return;
      const Event event = PopTimer();
      Start(event);
      const TimerHandler handler = timer_handlers_[event.Node()];
      handler.fn(handler.context);
    } else {
      const Event event = queue_.Top();
      if (limit.ps < event.time_ps) return;
      queue_.DropTop();
      Start(event);
      const Handler& handler = handlers_[event.Node()];
      handler.fn(handler.context);
    }
  }
}

}  // namespace ringpost::sim
