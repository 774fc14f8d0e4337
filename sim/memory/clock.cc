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

uint64_t Clock::Search(Key key) const {
  const Entry* found = std::lower_bound(
      Begin(), End(), key, [](const Entry& entry, Key wanted) { return entry.key < wanted; });
  return found != End() && found->key == key ? found->stamp : 0;
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

// Either of the two is taken as it is where it knows all that the other does: then the next
// comparison finds the same pointer.
ClockRef ClockRef::Merged(const ClockRef& other) const {
  Clock* joined = Clock::New(clock_->size_ + other.clock_->size_);
  const Clock::Entry *a = clock_->Begin(), *a_end = clock_->End();
  const Clock::Entry *b = other.clock_->Begin(), *b_end = other.clock_->End();
  Clock::Entry* out = joined->entries_;
  bool is_this = true, is_other = true;  // so far
  while (a != a_end && b != b_end) {
    const Clock::Entry &mine = *a, &theirs = *b;
    const bool takes_mine =
        mine.key < theirs.key || (mine.key == theirs.key && mine.stamp >= theirs.stamp);
    *out++ = takes_mine ? mine : theirs;
    a += mine.key <= theirs.key;
    b += theirs.key <= mine.key;
    is_this &= takes_mine;
    is_other &= !takes_mine || (mine.key == theirs.key && mine.stamp == theirs.stamp);
  }
  is_this &= b == b_end;
  is_other &= a == a_end;
  out = std::copy(a, a_end, out);
  out = std::copy(b, b_end, out);
  joined->size_ = static_cast<uint32_t>(out - joined->entries_);
  const ClockRef kept(joined);
  if (is_this) return *this;
  return is_other ? other : kept;
}

void ClockRef::Raise(Key key, uint64_t stamp) {
  if (Covers(key, stamp)) return;
  const uint32_t size = clock_ == nullptr ? 0 : clock_->size_;
  Clock* raised = Clock::New(size + 1);
  Clock::Entry* out = raised->entries_;
  bool placed = false;
  for (uint32_t i = 0; i < size; ++i) {
    const Clock::Entry& entry = clock_->entries_[i];
    if (!placed && entry.key >= key) {
      *out++ = {key, stamp};
      placed = true;
      if (entry.key == key) continue;
    }
    *out++ = entry;
  }
  if (!placed) *out++ = {key, stamp};
  raised->size_ = static_cast<uint32_t>(out - raised->entries_);
  ClockRef(raised).Swap(*this);
}

}  // namespace ringpost::sim
