// dctc.h: the context of a DC target (PRM "DCT Context").
#pragma once

#include "sim/uverbs/prm/field.h"

namespace ringpost::sim::uverbs::prm::dctc {

inline constexpr uint32_t kBytes = 0x40;
inline constexpr uint16_t kAt = 0x10;  // in the mailbox of CREATE_DCT

inline constexpr Field kState{0x00, 27, 24};
inline constexpr Field kUserIndex{0x04, 23, 0};
inline constexpr Field kCq{0x08, 23, 0};
inline constexpr Field kAtomicMode{0x0c, 23, 20};
inline constexpr Field kRemoteRead = Bit(0x0c, 19);
inline constexpr Field kRemoteWrite = Bit(0x0c, 18);
inline constexpr Field kRemoteAtomic = Bit(0x0c, 17);
inline constexpr Field kMinRnrNak{0x10, 12, 8};
inline constexpr Field kSrq{0x14, 23, 0};
inline constexpr Field kPd{0x18, 23, 0};
inline constexpr Field kTrafficClass{0x1c, 31, 24};
inline constexpr Field kFlowLabel{0x1c, 19, 0};
inline constexpr Wide kDcKey{0x20};
inline constexpr Field kMtu{0x28, 26, 24};
inline constexpr Field kPort{0x28, 23, 16};
inline constexpr Field kPkeyIndex{0x28, 15, 0};
inline constexpr Field kGidIndex{0x2c, 23, 16};
inline constexpr Field kHopLimit{0x2c, 7, 0};
inline constexpr Field kKeyViolations = Dword(0x30);

inline constexpr uint32_t kActive = 0;
inline constexpr uint32_t kDrained = 2;

}  // namespace ringpost::sim::uverbs::prm::dctc
