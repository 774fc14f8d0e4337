// event_queue.h: pending events in the total order (time, sequence).
//
// WheelQueue is the one the engine uses: buckets of 8.192 ns over a horizon of 33.6 us, a
// bucket sorted only once it becomes current, and a heap for what lies beyond. HeapQueue has the
// same interface and is the reference that a property test compares it with.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/engine/time.h"

namespace ringpost::sim {

// 16 bytes. The low 24 bits of `sequence_node` index the engine's table of handlers.
struct Event {
  int64_t time_ps = 0;
  uint64_t sequence_node = 0;

  static constexpr int kNodeBits = 24;
  uint32_t Node() const { return sequence_node & ((1u << kNodeBits) - 1); }
};

inline bool Before(const Event& a, const Event& b) {
  return a.time_ps != b.time_ps ? a.time_ps < b.time_ps : a.sequence_node < b.sequence_node;
}

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
      InsertIntoCurrent(event);
    } else if (bucket - current_ < kBuckets) {
      Put(bucket, event);
    } else {
      overflow_.Push(event);
    }
  }

  // Precondition: not empty.
  const Event& Top() {
    if (head_ == sorted_.size()) Advance();
    return sorted_[head_];
  }

  Event Pop() {
    const Event event = Top();
    ++head_;
    --size_;
    return event;
  }

 private:
  static constexpr int kShift = 13;
  static constexpr int64_t kBuckets = 4096;
  static constexpr size_t kWords = kBuckets / 64;

  void Put(int64_t bucket, Event event) {
    const size_t slot = static_cast<size_t>(bucket) % kBuckets;
    std::vector<Event>& events = buckets_[slot];
    if (events.capacity() == 0 && !spare_.empty()) {
      events.swap(spare_.back());
      spare_.pop_back();
    }
    events.push_back(event);
    occupied_[slot / 64] |= 1ull << (slot % 64);
  }

  void InsertIntoCurrent(Event event) {
    // Most come near the end; few events are due within one bucket.
    size_t place = sorted_.size();
    sorted_.push_back(event);
    for (; place > head_ && Before(event, sorted_[place - 1]); --place) {
      sorted_[place] = sorted_[place - 1];
    }
    sorted_[place] = event;
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

  void Advance() {
    sorted_.clear();
    head_ = 0;
    int64_t next = NextOccupied();
    if (!overflow_.Empty()) {
      const int64_t far = overflow_.Top().time_ps >> kShift;
      if (next < 0 || far < next) next = far;
    }
    current_ = next;
    const size_t slot = static_cast<size_t>(current_) % kBuckets;
    if (!buckets_[slot].empty() && buckets_[slot].front().time_ps >> kShift == current_) {
      sorted_.swap(buckets_[slot]);
      if (buckets_[slot].capacity() != 0) spare_.push_back(std::move(buckets_[slot]));
      occupied_[slot / 64] &= ~(1ull << (slot % 64));
    }
    while (!overflow_.Empty() && (overflow_.Top().time_ps >> kShift) - current_ < kBuckets) {
      const Event event = overflow_.Pop();
      const int64_t bucket = event.time_ps >> kShift;
      if (bucket == current_) {
        sorted_.push_back(event);
      } else {
        Put(bucket, event);
      }
    }
    std::sort(sorted_.begin(), sorted_.end(), Before);
  }

  std::vector<std::vector<Event>> buckets_;
  // Room for the events of a bucket goes to the next one that needs some: it is still in the host's
  // cache, which what a bucket had a turn of the wheel ago is not.
  std::vector<std::vector<Event>> spare_;
  std::array<uint64_t, kWords> occupied_{};
  std::vector<Event> sorted_;  // the current bucket; [0, head_) is spent
  size_t head_ = 0;
  size_t size_ = 0;
  int64_t current_ = -1;
  HeapQueue overflow_;
};

}  // namespace ringpost::sim
