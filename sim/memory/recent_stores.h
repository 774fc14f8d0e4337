// recent_stores.h: where messages were put, in the order of the stores, and when each settles.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sim/memory/line.h"

namespace ringpost::sim {

// A FIFO that grows by doubling.
class RecentStores {
 public:
  struct Entry {
    Line* line = nullptr;
    Time settles;
  };

  bool Empty() const { return first_ == end_; }
  size_t Size() const { return end_ - first_; }
  // Precondition: 0 is the oldest, and there is one.
  const Entry& At(size_t i) const { return ring_[(first_ + i) & mask_]; }
  void Push(const Entry& entry) {
    if (Size() > mask_) [[unlikely]]
      Grow();
    ring_[end_++ & mask_] = entry;
  }
  void Pop() { ++first_; }

 private:
  [[gnu::noinline]] void Grow() {
    std::vector<Entry> larger(2 * ring_.size());
    for (size_t i = 0; i < Size(); ++i) larger[i] = At(i);
    end_ = Size();
    first_ = 0;
    ring_ = std::move(larger);
    mask_ = ring_.size() - 1;
  }

  std::vector<Entry> ring_ = std::vector<Entry>(64);
  size_t mask_ = 63;
  size_t first_ = 0;  // both count without end
  size_t end_ = 0;
};

}  // namespace ringpost::sim
