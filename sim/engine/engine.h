// engine.h: the clock and the event loop of one simulation.
//
// Handlers are registered once and named by number, so that an event is 16 bytes. Events of equal
// time run in the order in which they were scheduled. Single-threaded; owns nothing but its queue.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/engine/event_queue.h"
#include "sim/engine/time.h"

namespace ringpost::sim {

using HandlerFn = void (*)(void* context);
using NeededFn = bool (*)(void* context);

class Engine {
 public:
  Engine() { handlers_.reserve(1024); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Time Now() const { return now_; }
  // Of the event that runs.
  uint64_t CurrentSequence() const { return current_; }
  uint64_t EventsRun() const { return events_; }

  // Registers a handler for the life of the engine. At most 2^24.
  uint32_t Register(HandlerFn fn, void* context);

  // A place in the order of events of equal time; taken when the logical event is made.
  uint64_t TakeSequence() { return sequence_++; }

  void Schedule(Time time, uint32_t node) { ScheduleAs(time, node, TakeSequence()); }
  void ScheduleAs(Time time, uint32_t node, uint64_t sequence) {
    queue_.Push({time < now_ ? now_.ps : time.ps, (sequence << Event::kNodeBits) | node});
  }

  // A timer is an event that does not keep a simulation going by itself: when nothing else is left,
  // those are dropped that `needed` denies, and the clock does not move for them.
  uint32_t RegisterTimer(HandlerFn fn, NeededFn needed, void* context);
  void ScheduleTimer(Time time, uint32_t timer) {
    timers_.Push({time < now_ ? now_.ps : time.ps, (TakeSequence() << Event::kNodeBits) | timer});
    next_timer_.ps = timers_.Top().time_ps;
  }

  // Moves the clock to `time` if nothing happens before or at it; a thread then need not yield.
  bool TryAdvance(Time time) {
    if (stopped_ || limit_ < time || !(time < next_timer_) ||
        (!queue_.Empty() && queue_.Top().time_ps <= time.ps)) {
      return false;
    }
    now_ = Later(now_, time);
    return true;
  }

  // Runs events until none is left, Stop is called, or the next lies beyond `limit`.
  void Run(Time limit = Time::Never());
  void Stop() { stopped_ = true; }
  bool Idle() const { return queue_.Empty(); }

 private:
  struct Handler {
    HandlerFn fn;
    void* context;
  };

  struct TimerHandler {
    HandlerFn fn;
    NeededFn needed;
    void* context;
  };
  void DropTimers();
  void Start(const Event& event) {
    now_.ps = event.time_ps;
    current_ = event.sequence_node >> Event::kNodeBits;
    ++events_;
  }
  Event PopTimer();
  bool TimerIsNext() {
    if (queue_.Empty()) return true;  // Run has looked whether there is one
    return next_timer_.ps <= queue_.Top().time_ps && !timers_.Empty() &&
           Before(timers_.Top(), queue_.Top());
  }

  WheelQueue queue_;
  HeapQueue timers_;
  Time next_timer_ = Time::Never();
  std::vector<Handler> handlers_;
  std::vector<TimerHandler> timer_handlers_;
  Time now_;
  uint64_t sequence_ = 0;
  uint64_t current_ = 0;
  uint64_t events_ = 0;
  bool stopped_ = false;
  Time limit_ = Time::Never();
};

// A FIFO with a constant or monotone delay: only its head is in the event queue, with the order it
// was given when it was put. Items are linked through `T::next`; `T::due` and `T::sequence` are
// the channel's. An item that would leave before the one in front of it is a modelling fault.
template <class T>
class Channel {
 public:
  using Sink = void (*)(void* context, T& item);

  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Each item goes to `kSink`. `kPrepare`, if any, is told of the one that leaves next: for what
  // the sink will touch in the host's memory. Both are known when this is compiled: an event is one
  // indirect call.
  template <Sink kSink, Sink kPrepare = nullptr>
  void Attach(Engine& engine, void* context) {
    engine_ = &engine;
    context_ = context;
    node_ = engine.Register(&Channel::Fire<kSink, kPrepare>, this);
  }

  // Keeps the order of `due`; an earlier item is sorted in from the tail.
  void Put(Time due, T& item) {
    item.due = due;
    item.sequence = engine_->TakeSequence();
    item.next = nullptr;
    if (head_ == nullptr) {
      head_ = tail_ = &item;
      engine_->ScheduleAs(due, node_, item.sequence);
    } else if (!(due < tail_->due)) {
      tail_->next = &item;
      tail_ = &item;
    } else {
      InsertSorted(item);
    }
  }

  // The item that its sink was just given goes on at once, before whatever else is due now.
  void PutBack(T& item) {
    item.next = head_;
    head_ = &item;
    if (tail_ == nullptr) tail_ = &item;
    engine_->ScheduleAs(item.due, node_, item.sequence);
  }

  bool Empty() const { return head_ == nullptr; }

 private:
  template <Sink kSink>
  using Constant = std::integral_constant<Sink, kSink>;
  template <Sink kSink, Sink kPrepare>
  static void Fire(void* self) {
    Channel& channel = *static_cast<Channel*>(self);
    T* item = channel.head_;
    // An earlier head was put in front: the former head's event comes again, and this is not it.
    if (item == nullptr || item->sequence != channel.engine_->CurrentSequence()) return;
    channel.head_ = item->next;
    if (channel.head_ != nullptr) {
      if (channel.head_->next != nullptr) Prefetch(*channel.head_->next);
      // By type: to gcc's sanitizers a function's address is no constant to compare.
      if constexpr (!std::is_same_v<Constant<kPrepare>, Constant<nullptr>>) {
        kPrepare(channel.context_, *channel.head_);
      }
      channel.engine_->ScheduleAs(channel.head_->due, channel.node_, channel.head_->sequence);
    } else {
      channel.tail_ = nullptr;
    }
    kSink(channel.context_, *item);
  }

  // It has gone cold while it waited behind others.
  static void Prefetch(const T& item) {
    const char* bytes = reinterpret_cast<const char*>(&item);
    for (size_t i = 0; i < sizeof(T); i += 64) __builtin_prefetch(bytes + i, 1);
  }

  void InsertSorted(T& item) {
    T** link = &head_;
    while (!(item.due < (*link)->due)) link = &(*link)->next;
    item.next = *link;
    const bool new_head = link == &head_;
    *link = &item;
    if (new_head) engine_->ScheduleAs(item.due, node_, item.sequence);
  }

  Engine* engine_ = nullptr;
  void* context_ = nullptr;
  T* head_ = nullptr;
  T* tail_ = nullptr;
  uint32_t node_ = 0;
};

}  // namespace ringpost::sim
