// timer_codes.h: what the timer codes of a QP mean, in nanoseconds. The function names timers; its
// driver, which owns the clock, asks here how long they run.
#pragma once

#include <array>
#include <cstdint>

#include "sim/nic/rnic_config.h"

namespace ringpost::sim {

// Codes below this one do not expire any sooner on a ConnectX (contract, section 8.2).
inline constexpr uint32_t kTimeoutFloorCode = 16;

// Local ACK timeout: 4.096 us * 2^code, and what the firmware makes of it. Code 0 never expires.
constexpr uint64_t AckTimeoutNs(uint32_t code, Behaviour behaviour) {
  code &= 31;
  if (code == 0) return 0;
  if (behaviour == Behaviour::kStrict) return uint64_t{4096} << code;
  return uint64_t{2 * 4096} << (code < kTimeoutFloorCode ? kTimeoutFloorCode : code);
}

// RNR NAK timer field (IBA specification, table "Encoding for RNR NAK Timer Field"), in 10 us.
constexpr uint64_t RnrDelayNs(uint32_t code) {
  constexpr std::array<uint32_t, 32> kTensOfUs = {
      65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
      48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
      2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return uint64_t{kTensOfUs[code & 31]} * 10000;
}

// Timeouts in a row, without progress, after which a QP gives up. A ConnectX fails with the
// retry_count-th (measured: 3.5 to 3.75 s at timeout 14 and 7 retries), the specification's
// retransmits once more.
constexpr uint32_t TimeoutsToFail(uint32_t retry_count, Behaviour behaviour) {
  if (behaviour == Behaviour::kStrict) return retry_count + 1;
  return retry_count == 0 ? 1 : retry_count;
}

}  // namespace ringpost::sim
