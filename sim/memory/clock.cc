#include "sim/memory/clock.h"

#include <algorithm>
#include <new>

namespace ringpost::sim {
namespace {

constexpr uint32_t kPooledCapacity = 62;  // 1 KiB

// Small clocks are made and dropped all the time; this keeps their blocks.
struct Pool {
  void* head = nullptr;
};
thread_local Pool pool;

// One answer is often asked for again: for each scope of a release, and by both ends of an edge.
struct LastJoin {
  ClockRef first, second, joined;
};
thread_local LastJoin last_join;

}  // namespace

// Without a branch that depends on keys, which the host could not foresee.
uint32_t Clock::PlaceOf(Key key) const {
  const Entry* first = entries_;
  for (uint32_t left = size_; left != 0;) {
    const uint32_t half = (left + 1) / 2;
    first = first[half - 1].key < key ? first + half : first;
    left -= half;
  }
  return static_cast<uint32_t>(first - entries_);
}

uint64_t Clock::Search(Key key) const {
  const uint32_t place = PlaceOf(key);
  return place != size_ && entries_[place].key == key ? entries_[place].stamp : 0;
}

Clock* Clock::New(uint32_t capacity) {
  capacity = std::max(capacity, kPooledCapacity);
  if (capacity == kPooledCapacity && pool.head != nullptr) {
    void* block = pool.head;
    pool.head = *static_cast<void**>(block);
    Clock* clock = new (block) Clock;
    clock->capacity_ = capacity;
    return clock;
  }
  void* block = ::operator new(sizeof(Clock) + (capacity - 1) * sizeof(Entry));
  Clock* clock = new (block) Clock;
  clock->capacity_ = capacity;
  return clock;
}

void Clock::Delete(Clock* clock) {
  if (clock->capacity_ != kPooledCapacity) {
    ::operator delete(clock);
    return;
  }
  *reinterpret_cast<void**>(clock) = pool.head;
  pool.head = clock;
}

void ClockRef::Join(const ClockRef& other) {
  if (other.clock_ == nullptr || other.clock_ == clock_) return;
  if (clock_ == nullptr) {
    *this = other;
    return;
  }
  if (last_join.first.SameAs(*this) && last_join.second.SameAs(other)) {
    *this = last_join.joined;
    return;
  }
  last_join.first = *this;
  last_join.second = other;
  last_join.joined = Merged(other);
  *this = last_join.joined;
}

// Either of the two is taken as it is where it knows all that the other does, which is what mostly
// holds: then nothing is copied, and the next comparison finds the same pointer.
ClockRef ClockRef::Merged(const ClockRef& other) const {
  const Clock::Entry *a = clock_->Begin(), *a_end = clock_->End();
  const Clock::Entry *b = other.clock_->Begin(), *b_end = other.clock_->End();
  bool is_this = true, is_other = true;  // so far
  while (a != a_end && b != b_end && (is_this || is_other)) {
    if (a->key == b->key) [[likely]] {
      is_this &= a->stamp >= b->stamp;
      is_other &= b->stamp >= a->stamp;
      ++a, ++b;
    } else if (a->key < b->key) {
      is_other = false;
      ++a;
    } else {
      is_this = false;
      ++b;
    }
  }
  if (is_this && b == b_end) return *this;
  if (is_other && a == a_end) return other;
  return Both(*clock_, *other.clock_);
}

ClockRef ClockRef::Both(const Clock& mine, const Clock& theirs) {
  Clock* joined = Clock::New(mine.size_ + theirs.size_);
  const Clock::Entry *a = mine.Begin(), *a_end = mine.End();
  const Clock::Entry *b = theirs.Begin(), *b_end = theirs.End();
  Clock::Entry* out = joined->entries_;
  while (a != a_end && b != b_end) {
    if (a->key == b->key) [[likely]] {
      *out++ = {a->key, std::max(a->stamp, b->stamp)};
      ++a, ++b;
    } else {
      *out++ = a->key < b->key ? *a++ : *b++;
    }
  }
  out = std::copy(a, a_end, out);
  out = std::copy(b, b_end, out);
  joined->size_ = static_cast<uint32_t>(out - joined->entries_);
  return ClockRef(joined);
}

void ClockRef::Raise(Key key, uint64_t stamp) {
  const uint32_t size = clock_ == nullptr ? 0 : clock_->size_;
  const uint32_t place = clock_ == nullptr ? 0 : clock_->PlaceOf(key);
  const bool there = place < size && clock_->entries_[place].key == key;
  if (there && clock_->entries_[place].stamp >= stamp) return;
  if (there && clock_->references_ == 1) {  // nobody else sees it
    clock_->entries_[place].stamp = stamp;
    return;
  }
  Clock* raised = Clock::New(size + 1);
  const Clock::Entry* from = size == 0 ? raised->entries_ : clock_->entries_;
  Clock::Entry* out = std::copy(from, from + place, raised->entries_);
  *out++ = {key, stamp};
  out = std::copy(from + place + (there ? 1 : 0), from + size, out);
  raised->size_ = static_cast<uint32_t>(out - raised->entries_);
  ClockRef(raised).Swap(*this);
}

}  // namespace ringpost::sim
