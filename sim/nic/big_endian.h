// big_endian.h: fields of WQEs and records, at any alignment.
#pragma once

#include <cstdint>
#include <cstring>

#include "transport/abi/byte_order.h"

namespace ringpost::sim {

inline uint16_t Big16(const uint8_t* at) {
  uint16_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return abi::Swap16(value);
}

inline uint32_t Big32(const uint8_t* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return abi::Swap32(value);
}

inline uint64_t Big64(const uint8_t* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return abi::Swap64(value);
}

}  // namespace ringpost::sim
