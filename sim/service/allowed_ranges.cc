#include "sim/service/allowed_ranges.h"

#include <algorithm>

namespace ringpost::sim::service {

void AllowedRanges::Add(const AllowedRange& range) {
  given_.push_back(range);
  Merge();
}

bool AllowedRanges::Remove(uint64_t begin, uint64_t end) {
  const auto found = std::find_if(given_.begin(), given_.end(), [&](const AllowedRange& range) {
    return range.begin == begin && range.end == end;
  });
  if (found == given_.end()) return false;
  given_.erase(found);
  Merge();
  return true;
}

void AllowedRanges::Clear() {
  given_.clear();
  merged_.clear();
}

void AllowedRanges::Merge() {
  merged_ = given_;
  std::sort(merged_.begin(), merged_.end(),
            [](const AllowedRange& a, const AllowedRange& b) { return a.begin < b.begin; });
  size_t count = 0;
  for (const AllowedRange& range : merged_) {
    AllowedRange* const last = count == 0 ? nullptr : &merged_[count - 1];
    if (last != nullptr && range.begin <= last->end && range.device == last->device) {
      last->end = std::max(last->end, range.end);
    } else {
      merged_[count++] = range;
    }
  }
  merged_.resize(count);
}

const AllowedRange* AllowedRanges::Find(uint64_t address, uint64_t bytes) const {
  const auto after =
      std::upper_bound(merged_.begin(), merged_.end(), address,
                       [](uint64_t at, const AllowedRange& range) { return at < range.begin; });
  if (after == merged_.begin()) return nullptr;
  const AllowedRange& range = *(after - 1);
  return range.Holds(address, bytes) ? &range : nullptr;
}

}  // namespace ringpost::sim::service
