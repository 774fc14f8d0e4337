#include "sim/service/device_route.h"

#include <algorithm>

namespace ringpost::sim::service {

void DeviceRoute::Allow(uint64_t address, uint64_t bytes, DeviceAccess& device) {
  ranges_.push_back({address, bytes, &device});
}

void DeviceRoute::Forbid(uint64_t address, uint64_t bytes) {
  const auto found = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return range.address == address && range.bytes == bytes;
  });
  if (found != ranges_.end()) ranges_.erase(found);
}

DeviceAccess* DeviceRoute::FindRange(uint64_t address, uint64_t bytes) const {
  for (const Range& range : ranges_) {
    if (address < range.address || address - range.address >= range.bytes) continue;
    return bytes <= range.bytes - (address - range.address) ? range.device : nullptr;
  }
  return nullptr;
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
