// command.h: what all mailboxes have in common, and the numbers of commands (PRM "Command
// Interface").
#pragma once

#include "sim/uverbs/prm/field.h"

namespace ringpost::sim::uverbs::prm {

inline constexpr Field kOpcode{0x00, 31, 16};
inline constexpr Field kUid{0x00, 15, 0};
inline constexpr Field kOpMod{0x04, 15, 0};
// Of the object that a command is about, or that it has made.
inline constexpr Field kNumber{0x08, 23, 0};

inline constexpr Field kStatus{0x00, 31, 24};
inline constexpr Field kSyndrome = Dword(0x04);

// The smallest mailbox of either direction.
inline constexpr uint32_t kHeaderBytes = 16;

enum class Opcode : uint16_t {
  kQueryHcaCap = 0x100,
  kQueryAdapter = 0x101,
  kQueryIssi = 0x10a,
  kCreateMkey = 0x200,
  kQueryMkey = 0x201,
  kDestroyMkey = 0x202,
  kCreateCq = 0x400,
  kDestroyCq = 0x401,
  kQueryCq = 0x402,
  kModifyCq = 0x403,
  kCreateQp = 0x500,
  kDestroyQp = 0x501,
  kRst2Init = 0x502,
  kInit2Rtr = 0x503,
  kRtr2Rts = 0x504,
  kRts2Rts = 0x505,
  kSqErr2Rts = 0x506,
  k2Err = 0x507,
  k2Rst = 0x50a,
  kQueryQp = 0x50b,
  kInit2Init = 0x50e,
  kCreateDct = 0x710,
  kDestroyDct = 0x711,
  kDrainDct = 0x712,
  kQueryDct = 0x713,
  kQueryRoceAddress = 0x760,
  kAllocPd = 0x800,
  kDeallocPd = 0x801,
  kAllocUar = 0x802,
  kDeallocUar = 0x803,
  kNop = 0x80d,
  kCreateRmp = 0x90c,
  kModifyRmp = 0x90d,
  kDestroyRmp = 0x90e,
  kQueryRmp = 0x90f,
};

// QUERY_HCA_CAP: op_mod is the group, shifted, and whether the current values are asked for.
inline constexpr uint32_t kCapCurrent = 1;
inline constexpr uint32_t kCapGroupShift = 1;
// QUERY_*: where the context begins in the answer.
inline constexpr uint16_t kContextAt = 0x10;

// QUERY_ROCE_ADDRESS
namespace roce_address {
inline constexpr Field kIndex{0x08, 31, 16};
inline constexpr Field kPort{0x08, 3, 0};
inline constexpr uint16_t kEntryAt = 0x10;
inline constexpr uint16_t kGid = 0x00;  // 16 bytes
inline constexpr Field kMacHigh{0x10, 15, 0};
inline constexpr Field kMacLow = Dword(0x14);
inline constexpr Field kL3Type{0x18, 11, 8};
inline constexpr Field kVersion{0x18, 7, 0};
inline constexpr uint32_t kBytes = 0x20;
}  // namespace roce_address

// QUERY_ADAPTER
namespace adapter {
inline constexpr Field kIeeeVendor = In(0x10, Field{0x18, 23, 0});
inline constexpr Field kVsdVendor = In(0x10, Field{0x1c, 15, 0});
inline constexpr uint16_t kPsid = 0x10 + 0x20 + 208;  // 16 bytes
inline constexpr uint32_t kBytes = kPsid + 16;
}  // namespace adapter

// QUERY_ISSI
namespace issi {
inline constexpr Field kCurrent{0x08, 15, 0};
inline constexpr Field kSupported = Dword(0x6c);
inline constexpr uint32_t kBytes = 0x70;
}  // namespace issi

}  // namespace ringpost::sim::uverbs::prm
