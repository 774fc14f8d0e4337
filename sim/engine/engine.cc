#include "sim/engine/engine.h"

#include "sim/engine/check.h"

namespace ringpost::sim {

uint32_t Engine::Register(HandlerFn fn, void* context) {
  RINGPOST_CHECK(handlers_.size() < (1u << Event::kNodeBits), "too many event handlers");
  handlers_.push_back({fn, context});
  return static_cast<uint32_t>(handlers_.size() - 1);
}

void Engine::Run(Time limit) {
  stopped_ = false;
  limit_ = limit;
  while (!stopped_ && !queue_.Empty()) {
    if (limit.ps < queue_.Top().time_ps) return;
    const Event event = queue_.Pop();
    now_.ps = event.time_ps;
    current_ = event.sequence_node >> Event::kNodeBits;
    ++events_;
    const Handler handler = handlers_[event.Node()];
    handler.fn(handler.context);
  }
}

}  // namespace ringpost::sim
