// allowed_ranges.h: which memory a NIC may touch, and through which device, if through one.
//
// Ranges of one device, or of none, may overlap and touch; an access may go across them. One
// thread's.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/device_access.h"

namespace ringpost::sim::service {

struct AllowedRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  DeviceAccess* device = nullptr;
  bool operator==(const AllowedRange&) const = default;
  bool Holds(uint64_t address, uint64_t bytes) const {
    return address >= begin && address < end && bytes <= end - address;
  }
};

class AllowedRanges {
 public:
  void Add(const AllowedRange& range);
  // Undoes one Add() of these bounds; false: there was none.
  bool Remove(uint64_t begin, uint64_t end);

  void Clear();
  bool Empty() const { return merged_.empty(); }
  // What holds all of these bytes, until the next change; null: nothing does.
  const AllowedRange* Find(uint64_t address, uint64_t bytes) const;

 private:
  void Merge();

  std::vector<AllowedRange> given_;
  std::vector<AllowedRange> merged_;  // sorted, apart from each other
};

}  // namespace ringpost::sim::service
