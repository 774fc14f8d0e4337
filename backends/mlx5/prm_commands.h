// prm_commands.h: the commands that this backend gives the device, and the frame of each mailbox.
//
// Numbers are those of the kernel's and rdma-core's mlx5_ifc.h, in Field's form.
#pragma once

#include "backends/mlx5/prm_field.h"

namespace ringpost::mlx5::prm {

enum class Opcode : uint16_t {
  kQueryHcaCap = 0x100,
  kCreateCq = 0x400,
  kCreateQp = 0x500,
  kRstToInit = 0x502,
  kInitToRtr = 0x503,
  kRtrToRts = 0x504,
};

// Of every mailbox.
inline constexpr Field kOpcode{0x00, 16, 16};
inline constexpr Field kOpMod{0x04, 0, 16};
inline constexpr Field kStatus{0x00, 24, 8};
inline constexpr Field kSyndrome{0x04, 0, 32};
inline constexpr Field kNumber{0x08, 0, 24};  // of the object: in answers, and in later commands
inline constexpr uint32_t kAnswerBytes = 16;

// QUERY_HCA_CAP: op_mod is the group and, in bit 0, current rather than maximal values.
enum class CapGroup : uint16_t { kGeneral = 0, kAtomic = 3 };
inline constexpr uint32_t kQueryCapBytes = 16;
inline constexpr uint32_t kCapAt = 0x10;  // of the group, in the answer
inline constexpr uint32_t kCapAnswerBytes = 0x10 + 0x1000;

// CREATE_CQ
inline constexpr uint32_t kCreateCqBytes = 272;
inline constexpr uint32_t kCqcAt = 0x10;
inline constexpr Field kCqUmemOffset{0x50, 0, 64};
inline constexpr Field kCqUmemId{0x58, 0, 32};
inline constexpr Field kCqUmemValid{0x5c, 31, 1};

// CREATE_QP, and the three commands that bring one up, where only QPN and context are used.
inline constexpr uint32_t kCreateQpBytes = 272;
inline constexpr uint32_t kQpcAt = 0x18;
inline constexpr Field kWqUmemOffset{0x100, 0, 64};
inline constexpr Field kWqUmemId{0x108, 0, 32};
inline constexpr Field kWqUmemValid{0x10c, 31, 1};
inline constexpr uint32_t kModifyQpBytes = 272;

}  // namespace ringpost::mlx5::prm
