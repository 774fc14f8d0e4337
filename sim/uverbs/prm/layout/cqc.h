// cqc.h: the context of a completion queue (PRM "CQ Context"), and the mailboxes around it.
#pragma once

#include "sim/uverbs/prm/field.h"

namespace ringpost::sim::uverbs::prm::cqc {

inline constexpr uint32_t kBytes = 0x40;

inline constexpr Field kCqStatus{0x00, 31, 28};  // 0: good
inline constexpr Field kDbrUmemValid = Bit(0x00, 25);
inline constexpr Field kCqeSize{0x00, 23, 21};  // 0: 64 bytes, 1: 128
inline constexpr Field kCollapsed = Bit(0x00, 20);
inline constexpr Field kOverrunIgnore = Bit(0x00, 17);
inline constexpr Field kPeriodMode{0x00, 16, 15};
inline constexpr Field kCompression = Bit(0x00, 14);
inline constexpr Field kState{0x00, 11, 8};
inline constexpr Field kDbrUmem = Dword(0x04);
inline constexpr Field kPageOffset{0x08, 11, 6};
inline constexpr Field kLogSize{0x0c, 28, 24};
inline constexpr Field kUar{0x0c, 23, 0};
inline constexpr Field kPeriod{0x10, 27, 16};
inline constexpr Field kMaxCount{0x10, 15, 0};
inline constexpr Field kEqn{0x14, 7, 0};
inline constexpr Field kLogPageSize{0x18, 28, 24};
inline constexpr Field kLastNotified{0x20, 23, 0};
inline constexpr Field kLastSolicited{0x24, 23, 0};
inline constexpr Field kConsumer{0x28, 23, 0};
inline constexpr Field kProducer{0x2c, 23, 0};
inline constexpr Wide kDbr{0x38};  // an offset in its umem, else an address

inline constexpr uint32_t kStatusOverrun = 9;
inline constexpr uint32_t kStateArmedSolicited = 6;
inline constexpr uint32_t kStateArmed = 9;
inline constexpr uint32_t kStateFired = 10;

// CREATE_CQ and MODIFY_CQ.
inline constexpr uint16_t kAt = 0x10;
inline constexpr Field kSelect = Dword(0x0c);  // MODIFY_CQ: which fields count
inline constexpr Wide kUmemOffset{0x50};
inline constexpr Field kUmem = Dword(0x58);
inline constexpr Field kUmemValid = Bit(0x5c, 31);
inline constexpr uint32_t kMailboxBytes = 0x60;

// MODIFY_CQ: op_mod, and the bits of kSelect.
inline constexpr uint32_t kOpModResize = 1;
inline constexpr uint32_t kSelectPeriod = 1 << 0;
inline constexpr uint32_t kSelectCount = 1 << 1;
inline constexpr uint32_t kSelectOverrun = 1 << 2;
inline constexpr uint32_t kSelectEqn = 1 << 3;
inline constexpr uint32_t kSelectPeriodMode = 1 << 4;

}  // namespace ringpost::sim::uverbs::prm::cqc
