// device_route.h: which memory a NIC's thread reaches through a device, as it cannot load from it:
// a GPU's. ProcessDma asks it first.
#pragma once

#include <cstdint>

#include "sim/nic/dma.h"
#include "sim/service/allowed_ranges.h"
#include "transport/device_access.h"

namespace ringpost::sim::service {

class DeviceRoute {
 public:
  // The device outlives the range. Ranges may overlap.
  void Allow(uint64_t address, uint64_t bytes, DeviceAccess& device) {
    ranges_.Add({address, address + bytes, &device});
  }
  // Undoes one Allow(); false: there was none.
  bool Forbid(uint64_t address, uint64_t bytes) { return ranges_.Remove(address, address + bytes); }

  // Of no device from here on.
  void Clear() {
    ranges_.Clear();
    unsettled_ = nullptr;
  }

  // What reaches all of these bytes; null: they are no device's.
  DeviceAccess* Find(uint64_t address, uint64_t bytes) const {
    if (ranges_.Empty()) [[likely]]
      return nullptr;
    const AllowedRange* range = ranges_.Find(address, bytes);
    return range == nullptr ? nullptr : range->device;
  }

  bool Write(DeviceAccess& device, uint64_t address, const void* bytes, uint64_t size) {
    unsettled_ = &device;
    return device.Write(address, bytes, size);
  }
  // As Dma::Modify.
  static bool Modify(DeviceAccess& device, uint64_t address, uint32_t bytes, Dma::NextFn next,
                     const void* context, uint64_t* original);

  // What was written through a device is there. Called before anything that tells of it by another
  // way: a store to host memory, or an acknowledgement.
  void Settle() {
    if (unsettled_ != nullptr) [[unlikely]]
      SettleNow();
  }

 private:
  void SettleNow();

  AllowedRanges ranges_;
  DeviceAccess* unsettled_ = nullptr;
};

}  // namespace ringpost::sim::service
