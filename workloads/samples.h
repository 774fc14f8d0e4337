// samples.h: what one thread has measured, and the order statistics of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ringpost::workloads {

// Picoseconds, one for each operation.
class Samples {
 public:
  void Reserve(uint64_t count) { values_.reserve(count); }
  // What a kernel takes times by.
  template <class P>
  static uint64_t Now(P& port) {
    return port.Now();
  }
  void Add(uint64_t picoseconds) { values_.push_back(picoseconds); }
  void Add(const Samples& other) {
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  }
  bool Empty() const { return values_.empty(); }

  // In microseconds. Precondition: not empty.
  double Median() const { return Percentile(50); }
  double Percentile(uint64_t percent) const {
    std::vector<uint64_t> sorted = values_;
    const size_t index = std::min(sorted.size() - 1, sorted.size() * percent / 100);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index),
                     sorted.end());
    return static_cast<double>(sorted[index]) / 1e6;
  }

 private:
  std::vector<uint64_t> values_;
};

}  // namespace ringpost::workloads
