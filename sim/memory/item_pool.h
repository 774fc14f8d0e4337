// item_pool.h: items that are taken and given back all the time, and destroyed only with the pool.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace ringpost::sim {

// T has a link `next`. An item comes back as it was given: a packet keeps the capacity of its
// payload. Not thread-safe.
template <class T, size_t kBlock = 64>
class ItemPool {
 public:
  [[gnu::always_inline]] T& Take() {
    if (free_ == nullptr) [[unlikely]]
      Grow();
    T& item = *free_;
    free_ = item.next;
    return item;
  }
  void Give(T& item) {
    item.next = free_;
    free_ = &item;
  }
  // What Take() would give, if it need not grow.
  const T* Next() const { return free_; }

 private:
  // Not inline: who takes an item needs little stack.
  [[gnu::noinline]] void Grow() {
    blocks_.push_back(std::make_unique<T[]>(kBlock));
    for (size_t i = 0; i < kBlock; ++i) Give(blocks_.back()[i]);
  }

  std::vector<std::unique_ptr<T[]>> blocks_;
  T* free_ = nullptr;
};

}  // namespace ringpost::sim
