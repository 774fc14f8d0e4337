// rmpc.h: the context of a receive memory pool, which is a shared receive queue (PRM "RMP Context"
// and "WQ Context").
#pragma once

#include "sim/uverbs/prm/field.h"

namespace ringpost::sim::uverbs::prm::rmpc {

inline constexpr uint16_t kAt = 0x20;  // in the mailboxes of CREATE, MODIFY and QUERY
inline constexpr uint32_t kBytes = 0x30 + 0xc0;

inline constexpr Field kState{0x00, 23, 20};  // 0 reset, 1 ready, 3 error
inline constexpr Field kBasicCyclic = Bit(0x04, 31);

// The work queue is the rest of it.
inline constexpr uint16_t kWq = 0x30;
inline constexpr Field kType = In(kWq, Field{0x00, 31, 28});  // 0 linked list, 1 cyclic
inline constexpr Field kSignature = In(kWq, Bit(0x00, 27));
inline constexpr Field kPageOffset = In(kWq, Field{0x04, 20, 16});
inline constexpr Field kLimit = In(kWq, Field{0x04, 15, 0});
inline constexpr Field kPd = In(kWq, Field{0x08, 23, 0});
inline constexpr Wide kDbr = In(kWq, Wide{0x10});
inline constexpr Field kHwCounter = In(kWq, Dword(0x18));
inline constexpr Field kSwCounter = In(kWq, Dword(0x1c));
inline constexpr Field kLogStride = In(kWq, Field{0x20, 19, 16});  // of bytes
inline constexpr Field kLogPageSize = In(kWq, Field{0x20, 12, 8});
inline constexpr Field kLogSize = In(kWq, Field{0x20, 4, 0});
inline constexpr Field kDbrUmemValid = In(kWq, Bit(0x24, 31));
inline constexpr Field kUmemValid = In(kWq, Bit(0x24, 30));
inline constexpr Field kDbrUmem = In(kWq, Dword(0x28));
inline constexpr Field kUmem = In(kWq, Dword(0x2c));
inline constexpr Wide kUmemOffset = In(kWq, Wide{0x30});

inline constexpr uint32_t kReset = 0;
inline constexpr uint32_t kReady = 1;

inline constexpr uint32_t kCreateBytes = kAt + kWq + 0x38;

// MODIFY_RMP
inline constexpr Field kModifyState{0x08, 31, 28};
inline constexpr Field kSelectLimit = Bit(0x14, 0);
inline constexpr uint32_t kModifyBytes = kAt + kWq + 0x08;

}  // namespace ringpost::sim::uverbs::prm::rmpc
