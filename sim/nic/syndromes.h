// syndromes.h: the AETH's syndrome byte (IBA specification 9.7.5.2), and vendor syndromes of CQEs.
#pragma once

#include <cstdint>

namespace ringpost::sim::aeth {

inline constexpr uint8_t kKindMask = 0xe0;
inline constexpr uint8_t kAck = 0x00;
inline constexpr uint8_t kRnrNak = 0x20;  // the lower five bits: the timer's code
inline constexpr uint8_t kNak = 0x60;

inline constexpr uint8_t kAckNoCredits = 0x1f;  // end-to-end credits are not counted
inline constexpr uint8_t kSequenceError = 0x60;
inline constexpr uint8_t kInvalidRequest = 0x61;
inline constexpr uint8_t kRemoteAccess = 0x62;
inline constexpr uint8_t kRemoteOperation = 0x63;

}  // namespace ringpost::sim::aeth

namespace ringpost::sim::vendor {

// Of flush CQEs: the oldest WQE when software moved the QP, and all others.
inline constexpr uint8_t kHeadFlush = 0xf5;
inline constexpr uint8_t kFlush = 0xf9;

}  // namespace ringpost::sim::vendor
