// event_queue.h: pending events in the total order (time, sequence).
//
// WheelQueue is the one the engine uses: buckets of 16.384 ns over a horizon of 67 us, a
// bucket sorted only once it becomes current, and a heap for what lies beyond. HeapQueue has the
// same interface and is the reference that a property test compares it with.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/engine/event_list.h"

namespace ringpost::sim {

class HeapQueue {
 public:
  bool Empty() const { return events_.empty(); }
  const Event& Top() const { return events_.front(); }
  void Push(Event event) {
    events_.push_back(event);
    std::push_heap(events_.begin(), events_.end(), After);
  }
  Event Pop() {
    std::pop_heap(events_.begin(), events_.end(), After);
    const Event event = events_.back();
    events_.pop_back();
    return event;
  }

 private:
  static bool After(const Event& a, const Event& b) { return Before(b, a); }
  std::vector<Event> events_;
};

class WheelQueue {
 public:
  WheelQueue() : buckets_(kBuckets) {}

  bool Empty() const { return size_ == 0; }

  void Push(Event event) {
    ++size_;
    const int64_t bucket = event.time_ps >> kShift;
    if (bucket <= current_) {
      // Most come near the end; few events are due within one bucket.
      sorted_.AddInOrder(event, head_);
    } else if (bucket - current_ < kBuckets) [[likely]] {
      Put(bucket, event);
    } else {
      PushFar(event);
    }
  }

  // Precondition: not empty.
  const Event& Top() {
    if (head_ == sorted_.Size()) Advance();
    return sorted_[head_];
  }

  Event Pop() {
    const Event event = Top();
    DropTop();
    return event;
  }
  // Precondition: Top has just been called.
  void DropTop() {
    ++head_;
    --size_;
  }

 private:
  static constexpr int kShift = 14;
  static constexpr int64_t kBuckets = 4096;
  static constexpr size_t kWords = kBuckets / 64;

  void Put(int64_t bucket, const Event& event) {
    const size_t slot = static_cast<size_t>(bucket) % kBuckets;
    EventList& events = buckets_[slot];
    if (events.Room() == 0) TakeSpare(events);
    events.Add(event);
    occupied_[slot / 64] |= 1ull << (slot % 64);
  }

  [[gnu::noinline]] void PushFar(const Event& event) { overflow_.Push(event); }

  [[gnu::noinline]] void TakeSpare(EventList& events) {
    if (spare_.empty()) return;
    events.Swap(spare_.back());
    spare_.pop_back();
  }

  // The first occupied bucket after the current one, or -1.
  int64_t NextOccupied() const {
    const size_t start = static_cast<size_t>(current_ + 1) % kBuckets;
    size_t word = start / 64;
    uint64_t bits = occupied_[word] & (~0ull << (start % 64));
    for (size_t steps = 0; bits == 0; ++steps) {
      if (steps == kWords) return -1;
      word = (word + 1) % kWords;
      bits = occupied_[word];
    }
    const size_t slot = word * 64 + static_cast<size_t>(std::countr_zero(bits));
    return current_ + 1 + static_cast<int64_t>((slot + kBuckets - start) % kBuckets);
  }

  [[gnu::noinline]] void Advance() {
    constexpr size_t kFew = 16;
    sorted_.Clear();
    head_ = 0;
    int64_t next = NextOccupied();
    if (!overflow_.Empty()) {
      const int64_t far = overflow_.Top().time_ps >> kShift;
      if (next < 0 || far < next) next = far;
    }
    current_ = next;
    const size_t slot = static_cast<size_t>(current_) % kBuckets;
    EventList& bucket = buckets_[slot];
    if (!bucket.Empty() && bucket[0].time_ps >> kShift == current_) {
      sorted_.Swap(bucket);
      if (bucket.Room() != 0) spare_.push_back(std::move(bucket));
      occupied_[slot / 64] &= ~(1ull << (slot % 64));
    }
    while (!overflow_.Empty() && (overflow_.Top().time_ps >> kShift) - current_ < kBuckets) {
      const Event event = overflow_.Pop();
      const int64_t its = event.time_ps >> kShift;
      if (its == current_) {
        sorted_.Add(event);
      } else {
        Put(its, event);
      }
    }
    if (sorted_.Size() <= kFew) {
      sorted_.SortFew();
    } else {
      std::sort(sorted_.Begin(), sorted_.End(), Before);
    }
  }

  std::vector<EventList> buckets_;
  // Room for the events of a bucket goes to the next one that needs some: it is still in the host's
  // cache, which what a bucket had a turn of the wheel ago is not.
  std::vector<EventList> spare_;
  std::array<uint64_t, kWords> occupied_{};
  EventList sorted_;  // the current bucket; [0, head_) is spent
  size_t head_ = 0;
  size_t size_ = 0;
  int64_t current_ = -1;
  HeapQueue overflow_;
};

}  // namespace ringpost::sim
