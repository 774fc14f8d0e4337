// clock.h: which stores of which agents somebody knows of, as an immutable shared value.
//
// Every store carries a stamp from one global counter; an agent takes a new stamp at each release.
// A Clock maps a key to the newest stamp known: a key is one agent, or a group of agents (a warp,
// a CTA) that met at a barrier, where one entry stands for all members. Clocks are joined often
// and are mostly equal, so those that are shared are immutable; they are reference counted and
// compared by pointer first. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ringpost::sim {

using Key = uint32_t;
inline constexpr Key kGroupBit = 0x80000000u;

class Clock {
 public:
  struct Entry {
    Key key;
    uint64_t stamp;
  };

  uint32_t Size() const { return size_; }
  const Entry* Begin() const { return entries_; }
  const Entry* End() const { return entries_ + size_; }
  // The newest stamp known of `key`; 0 when none.
  uint64_t Of(Key key) const {
    if (size_ > kLinearSearch) return Search(key);
    for (uint32_t i = 0; i < size_; ++i) {
      if (entries_[i].key == key) return entries_[i].stamp;
    }
    return 0;
  }

 private:
  friend class ClockRef;
  static constexpr uint32_t kLinearSearch = 8;
  uint64_t Search(Key key) const;
  uint32_t PlaceOf(Key key) const;  // of the first entry that is not before `key`
  static Clock* New(uint32_t capacity);
  static void Delete(Clock* clock);

  uint32_t references_ = 0;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  Entry entries_[1];
};

// A shared pointer to a Clock; empty means "knows nothing".
class ClockRef {
 public:
  ClockRef() = default;
  ClockRef(const ClockRef& other) : clock_(other.clock_) {
    if (clock_ != nullptr) ++clock_->references_;
  }
  ClockRef(ClockRef&& other) noexcept : clock_(std::exchange(other.clock_, nullptr)) {}
  ClockRef& operator=(const ClockRef& other) {
    if (clock_ != other.clock_) ClockRef(other).Swap(*this);
    return *this;
  }
  ClockRef& operator=(ClockRef&& other) noexcept {
    std::swap(clock_, other.clock_);
    return *this;
  }
  ~ClockRef() {
    if (clock_ != nullptr && --clock_->references_ == 0) Clock::Delete(clock_);
  }

  uint64_t Of(Key key) const { return clock_ == nullptr ? 0 : clock_->Of(key); }
  bool Covers(Key key, uint64_t stamp) const {
    return clock_ != nullptr && clock_->Of(key) >= stamp;
  }
  bool SameAs(const ClockRef& other) const { return clock_ == other.clock_; }
  bool Empty() const { return clock_ == nullptr; }
  const Clock* Get() const { return clock_; }

  void Join(const ClockRef& other);
  void Raise(Key key, uint64_t stamp);

 private:
  ClockRef Merged(const ClockRef& other) const;
  static ClockRef Both(const Clock& mine, const Clock& theirs);
  explicit ClockRef(Clock* clock) : clock_(clock) { ++clock_->references_; }
  void Swap(ClockRef& other) { std::swap(clock_, other.clock_); }

  Clock* clock_ = nullptr;
};

}  // namespace ringpost::sim
