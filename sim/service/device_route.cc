#include "sim/service/device_route.h"

namespace ringpost::sim::service {

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
