// byte_order.h: big-endian fields of the mlx5 byte contract, on a little-endian host or GPU.
#pragma once

#include <cstdint>

#include "transport/host_device.h"

namespace ringpost::abi {

HOST_DEVICE constexpr uint16_t Swap16(uint16_t value) {
  return static_cast<uint16_t>((value << 8) | (value >> 8));
}

HOST_DEVICE constexpr uint32_t Swap32(uint32_t value) {
  if constexpr (kPicksBytes) return PickBytes(value, 0, 0x0123);
  return (value << 24) | ((value & 0xff00u) << 8) | ((value >> 8) & 0xff00u) | (value >> 24);
}

HOST_DEVICE constexpr uint64_t Swap64(uint64_t value) {
  return (static_cast<uint64_t>(Swap32(static_cast<uint32_t>(value))) << 32) |
         Swap32(static_cast<uint32_t>(value >> 32));
}

}  // namespace ringpost::abi
