// mkc.h: the context of a memory key (PRM "MKey Context"), and the mailbox of CREATE_MKEY.
#pragma once

#include "sim/uverbs/prm/field.h"

namespace ringpost::sim::uverbs::prm::mkc {

inline constexpr uint32_t kBytes = 0x40;
inline constexpr uint16_t kAt = 0x10;

inline constexpr Field kFree = Bit(0x00, 30);
inline constexpr Field kAccessModeHigh{0x00, 28, 26};
inline constexpr Field kUmr = Bit(0x00, 15);
inline constexpr Field kAtomic = Bit(0x00, 14);
inline constexpr Field kRemoteWrite = Bit(0x00, 13);
inline constexpr Field kRemoteRead = Bit(0x00, 12);
inline constexpr Field kLocalWrite = Bit(0x00, 11);
inline constexpr Field kLocalRead = Bit(0x00, 10);
inline constexpr Field kAccessMode{0x00, 9, 8};
inline constexpr Field kQpn{0x04, 31, 8};
inline constexpr Field kVariant{0x04, 7, 0};
inline constexpr Field kLength64 = Bit(0x0c, 31);
inline constexpr Field kRemoteInvalidate = Bit(0x0c, 24);
inline constexpr Field kPd{0x0c, 23, 0};
inline constexpr Wide kStart{0x10};
inline constexpr Wide kLength{0x18};
inline constexpr Field kLogPageSize{0x38, 4, 0};

enum AccessMode : uint32_t { kPhysical = 0, kPages = 1 };
inline constexpr uint32_t kAnyQpn = 0xffffff;

// CREATE_MKEY
inline constexpr Field kUmemValid = Bit(0x0c, 30);
inline constexpr Field kUmem = Dword(0x64);
inline constexpr Wide kUmemOffset{0x68};
inline constexpr uint32_t kMailboxBytes = 0x70;

}  // namespace ringpost::sim::uverbs::prm::mkc
