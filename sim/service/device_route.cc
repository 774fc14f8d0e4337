#include "sim/service/device_route.h"

#include <algorithm>

namespace ringpost::sim::service {

void DeviceRoute::Allow(uint64_t address, uint64_t bytes, DeviceAccess& device) {
  ranges_.emplace(address, Range{bytes, &device});
}

void DeviceRoute::Forbid(uint64_t address, uint64_t bytes) {
  const auto [first, end] = ranges_.equal_range(address);
  const auto found =
      std::find_if(first, end, [&](const auto& range) { return range.second.bytes == bytes; });
  if (found != end) ranges_.erase(found);
}

DeviceAccess* DeviceRoute::FindRange(uint64_t address, uint64_t bytes) const {
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return nullptr;
  --range;
  const uint64_t offset = address - range->first;
  const bool inside = offset < range->second.bytes && bytes <= range->second.bytes - offset;
  return inside ? range->second.device : nullptr;
}

bool DeviceRoute::Modify(DeviceAccess& device, uint64_t address, uint32_t bytes, Dma::NextFn next,
                         const void* context, uint64_t* original) {
  if (address % bytes != 0) return false;
  uint64_t old = 0;
  if (!device.Read(address, &old, bytes)) return false;
  for (;;) {
    uint64_t found = old;
    if (!device.CompareSwap(address, bytes, &found, next(context, old))) return false;
    if (found == old) break;
    old = found;
  }
  *original = old;
  return true;
}

void DeviceRoute::SettleNow() {
  // A device that answers no more fails what is asked of it next.
  static_cast<void>(unsettled_->Settle());
  unsettled_ = nullptr;
}

}  // namespace ringpost::sim::service
