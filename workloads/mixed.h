// mixed.h: a hash for choices and contents that must be equal on every machine.
#pragma once

#include <cstdint>

#include "transport/host_device.h"

namespace ringpost::workloads {

HOST_DEVICE constexpr uint64_t Mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

}  // namespace ringpost::workloads
