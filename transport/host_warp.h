// host_warp.h: where the OS threads that are the lanes of one warp, or all threads of a block,
// meet.
//
// Outlives the ports of its lanes. A lane that ends early blocks the others at their next meeting.
#pragma once

#include <barrier>
#include <cstdint>
#include <vector>

namespace ringpost {

class HostWarp {
 public:
  explicit HostWarp(uint32_t lanes) : lanes_(lanes), barrier_(lanes), values_(lanes) {}

  uint32_t lanes() const { return lanes_; }

  void Sync() {
    if (lanes_ > 1) barrier_.arrive_and_wait();
  }

  // Every lane's `value`, by lane. The second meeting keeps the values until all have read them.
  template <class Read>
  uint64_t Exchange(uint32_t lane, uint64_t value, Read&& read) {
    values_[lane] = value;
    Sync();
    const uint64_t result = read(values_);
    Sync();
    return result;
  }

 private:
  const uint32_t lanes_;
  std::barrier<> barrier_;
  std::vector<uint64_t> values_;
};

}  // namespace ringpost
