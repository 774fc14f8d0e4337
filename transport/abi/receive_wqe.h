// receive_wqe.h: posted receives: a list of data segments, behind a link in a shared queue (SRQ).
#pragma once

#include <cstdint>

#include "transport/abi/wqe.h"

namespace ringpost::abi {

inline constexpr uint32_t kEndOfListKey = 0x100;  // lkey of the segment that ends a list

// A list of one range ends by itself; an empty one says so.
HOST_DEVICE constexpr Segment ReceiveOf(uint32_t bytes, uint32_t lkey, uint64_t address) {
  return bytes == 0 ? DataOf(0, kEndOfListKey, 0) : DataOf(bytes, lkey, address);
}

// First segment of a WQE of a shared queue: which WQE comes behind it.
HOST_DEVICE constexpr Segment NextReceiveOf(uint16_t index) {
  return {{uint32_t{Swap16(index)} << 16, 0, 0, 0}};
}

}  // namespace ringpost::abi
