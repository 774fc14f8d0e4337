// cqe.h: the 64-byte completion queue entry (PRM "Completion Queue Element", cqe_version 1).
//
// The last 8 bytes hold all that a requester's poller needs: send opcode and QPN, the counter of
// the WQE's first WQEBB, and op_own. The NIC makes them visible together with everything before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/abi/byte_order.h"

namespace ringpost::abi {

inline constexpr uint32_t kCqeBytes = 64;
inline constexpr uint8_t kCqeInitialOpOwn = 0xf1;  // opcode invalid, owner 1

enum class CqeOpcode : uint8_t {
  kRequester = 0x0,
  kResponderWriteImm = 0x1,
  kResponderSend = 0x2,
  kResponderSendImm = 0x3,
  kResponderSendInvalidate = 0x4,
  kResize = 0x5,  // the last of a ring: later ones are in another
  kRequesterError = 0xd,
  kResponderError = 0xe,
  kInvalid = 0xf,
};

enum class Syndrome : uint8_t {
  kNone = 0x00,
  kLocalLength = 0x01,
  kLocalQpOperation = 0x02,
  kLocalProtection = 0x04,
  kFlushed = 0x05,
  kBadResponse = 0x10,
  kLocalAccess = 0x11,
  kRemoteInvalidRequest = 0x12,
  kRemoteAccess = 0x13,
  kRemoteOperation = 0x14,
  kTransportRetryExceeded = 0x15,
  kRnrRetryExceeded = 0x16,
};

struct Cqe {
  uint8_t reserved0[2];
  uint16_t wqe_id;
  uint8_t reserved4[13];
  uint8_t ml_path;
  uint8_t reserved18[4];
  uint16_t slid;
  uint32_t flags_rqpn;
  uint8_t hds_ip_ext;
  uint8_t l4_hdr_type_etc;
  uint16_t vlan_info;
  uint32_t srqn_uidx;
  uint32_t imm_inval_pkey;
  uint8_t app[4];
  uint32_t byte_cnt;
  uint64_t timestamp;
  uint32_t sop_drop_qpn;
  uint16_t wqe_counter;
  uint8_t signature;
  uint8_t op_own;
};
static_assert(sizeof(Cqe) == kCqeBytes);
static_assert(offsetof(Cqe, ml_path) == 17);
static_assert(offsetof(Cqe, srqn_uidx) == 32);
static_assert(offsetof(Cqe, byte_cnt) == 44);
static_assert(offsetof(Cqe, timestamp) == 48);
static_assert(offsetof(Cqe, sop_drop_qpn) == 56);
static_assert(offsetof(Cqe, wqe_counter) == 60);
static_assert(offsetof(Cqe, op_own) == 63);

// An error CQE overlays bytes 32 to 63.
inline constexpr uint32_t kErrorHardwareSyndromeOffset = 52;
inline constexpr uint32_t kErrorVendorSyndromeOffset = 54;
inline constexpr uint32_t kErrorSyndromeOffset = 55;

// What a receive brings: two big-endian words of 4 bytes.
inline constexpr uint32_t kCqeImmediateOffset = 36;
inline constexpr uint32_t kCqeByteCountOffset = 44;
static_assert(offsetof(Cqe, imm_inval_pkey) == kCqeImmediateOffset);

// Bytes 56..63 as one word in memory order.
inline constexpr uint32_t kCqeTailOffset = 56;

HOST_DEVICE constexpr CqeOpcode TailOpcode(uint64_t tail) {
  return static_cast<CqeOpcode>(tail >> 60);
}
// Entry i of a ring of N belongs to software once this is bit N of the count of entries read.
HOST_DEVICE constexpr bool TailOwner(uint64_t tail) { return ((tail >> 56) & 1) != 0; }
HOST_DEVICE constexpr uint16_t TailCounter(uint64_t tail) {
  return Swap16(static_cast<uint16_t>(tail >> 32));
}
HOST_DEVICE constexpr uint32_t TailQpn(uint64_t tail) {
  return Swap32(static_cast<uint32_t>(tail)) & 0xffffff;
}

}  // namespace ringpost::abi
