// event_list.h: 16-byte events in an array that keeps its room. What seldom happens is not inline,
// so that adding an event is a few instructions wherever it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace ringpost::sim {

// The low 24 bits of `sequence_node` index the engine's table of handlers.
struct Event {
  int64_t time_ps = 0;
  uint64_t sequence_node = 0;

  static constexpr int kNodeBits = 24;
  uint32_t Node() const { return sequence_node & ((1u << kNodeBits) - 1); }
};

inline bool Before(const Event& a, const Event& b) {
  return a.time_ps != b.time_ps ? a.time_ps < b.time_ps : a.sequence_node < b.sequence_node;
}

class EventList {
 public:
  EventList() = default;
  EventList(EventList&& other) noexcept { Swap(other); }
  EventList& operator=(EventList&& other) noexcept {
    Swap(other);
    return *this;
  }

  bool Empty() const { return size_ == 0; }
  size_t Size() const { return size_; }
  size_t Room() const { return room_; }
  Event* Begin() { return events_.get(); }
  Event* End() { return events_.get() + size_; }
  const Event& operator[](size_t i) const { return events_[i]; }
  void Clear() { size_ = 0; }
  void Add(const Event& event) {
    if (size_ == room_) [[unlikely]]
      Grow();
    events_[size_++] = event;
  }
  // Precondition: those of [first, end) are in order. The new one goes where it belongs among them.
  void AddInOrder(const Event& event, size_t first) {
    if (size_ == room_) [[unlikely]]
      Grow();
    Sink(event, size_++, first);
  }
  // What has been added in any order, mostly in this one.
  void SortFew() {
    for (size_t i = 1; i < size_; ++i) Sink(Event(events_[i]), i, 0);
  }
  void Swap(EventList& other) {
    std::swap(events_, other.events_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }

 private:
  void Sink(const Event& event, size_t place, size_t first) {
    Event* to = events_.get() + place;
    for (; place != first && Before(event, to[-1]); --place, --to) *to = to[-1];
    *to = event;
  }
  [[gnu::noinline]] void Grow() {
    const size_t room = room_ == 0 ? 8 : 2 * room_;
    auto larger = std::make_unique<Event[]>(room);
    for (size_t i = 0; i < size_; ++i) larger[i] = events_[i];
    events_ = std::move(larger);
    room_ = static_cast<uint32_t>(room);
  }

  std::unique_ptr<Event[]> events_;
  uint32_t size_ = 0;
  uint32_t room_ = 0;
};

}  // namespace ringpost::sim
