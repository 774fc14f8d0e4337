// dc.h: how a DCI and a DCT keep apart the PSNs of one connection from those of the next.
//
// A DCI numbers the packets to each target apart, and has at most 2^12 of them on their way. Work
// that failed starts a new incarnation: its PSNs begin 2^16 further on, at a multiple of 2^12. A
// DCT that gets a request so far ahead knows by that where the incarnation began; a hundred of
// which nothing arrived do no harm. ConnectX's own way to connect is not public; this one needs no
// packet of its own.
#pragma once

#include <cstdint>

#include "sim/nic/psn.h"

namespace ringpost::sim::dc {

inline constexpr uint32_t kIncarnation = 1 << 16;
inline constexpr uint32_t kInFlight = 1 << 12;

constexpr uint32_t FirstOf(uint32_t psn) { return psn & kPsnMask & ~(kInFlight - 1); }
constexpr uint32_t NextIncarnation(uint32_t psn) { return FirstOf(psn + kIncarnation); }
constexpr bool IsNewIncarnation(uint32_t expected, uint32_t psn) {
  return PsnDistance(expected, psn) >= static_cast<int32_t>(kIncarnation / 2);
}
// Streams of one DCI start apart, so that an answer of one is not taken for another's.
constexpr uint32_t FirstPsnOf(uint32_t stream) { return FirstOf((stream + 1) * 0x9d1000); }

}  // namespace ringpost::sim::dc
