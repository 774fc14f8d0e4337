// device_route.h: which memory a NIC's thread reaches through a device, as it cannot load from it:
// a GPU's. ProcessDma asks it first.
#pragma once

#include <cstdint>
#include <map>

#include "sim/nic/dma.h"
#include "transport/device_access.h"

namespace ringpost::sim::service {

class DeviceRoute {
 public:
  // The device outlives the range. Ranges are equal, or do not overlap.
  void Allow(uint64_t address, uint64_t bytes, DeviceAccess& device);
  void Forbid(uint64_t address, uint64_t bytes);

  // What reaches all of these bytes; null: they are no device's.
  DeviceAccess* Find(uint64_t address, uint64_t bytes) const {
    if (ranges_.empty()) [[likely]]
      return nullptr;
    return FindRange(address, bytes);
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
  struct Range {
    uint64_t bytes = 0;
    DeviceAccess* device = nullptr;
  };
  DeviceAccess* FindRange(uint64_t address, uint64_t bytes) const;
  void SettleNow();

  std::multimap<uint64_t, Range> ranges_;  // by address
  DeviceAccess* unsettled_ = nullptr;
};

}  // namespace ringpost::sim::service
