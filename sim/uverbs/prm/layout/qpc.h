// qpc.h: the context of a queue pair (PRM "QP Context") with its address paths, and the mailboxes
// around it.
#pragma once

#include "sim/uverbs/prm/field.h"

namespace ringpost::sim::uverbs::prm {

// An address path: 44 bytes.
namespace ads {
inline constexpr Field kForceLoopback = Bit(0x00, 31);
inline constexpr Field kPkeyIndex{0x00, 15, 0};
inline constexpr Field kGrh = Bit(0x04, 23);
inline constexpr Field kPathBits{0x04, 22, 16};
inline constexpr Field kLid{0x04, 15, 0};
inline constexpr Field kAckTimeout{0x08, 31, 27};
inline constexpr Field kGidIndex{0x08, 23, 16};
inline constexpr Field kHopLimit{0x08, 7, 0};
inline constexpr Field kTrafficClass{0x0c, 27, 20};
inline constexpr Field kFlowLabel{0x0c, 19, 0};
inline constexpr uint16_t kGid = 0x10;  // 16 bytes
inline constexpr Field kDscpEcn{0x20, 23, 16};
inline constexpr Field kUdpSourcePort{0x20, 15, 0};
inline constexpr Field kEthPriority{0x24, 30, 28};
inline constexpr Field kServiceLevel{0x24, 27, 24};
inline constexpr Field kPort{0x24, 23, 16};
inline constexpr Field kMacHigh{0x24, 15, 0};
inline constexpr Field kMacLow = Dword(0x28);
inline constexpr uint32_t kBytes = 0x2c;
}  // namespace ads

namespace qpc {
inline constexpr uint32_t kBytes = 0xe8;

inline constexpr Field kState{0x00, 31, 28};
inline constexpr Field kServiceType{0x00, 23, 16};
inline constexpr Field kIsolate = Bit(0x00, 13);
inline constexpr Field kPathMigration{0x00, 12, 11};  // 0 armed, 1 rearm, 3 migrated
inline constexpr Field kWqSignature = Bit(0x04, 31);
inline constexpr Field kPd{0x04, 23, 0};
inline constexpr Field kMtu{0x08, 31, 29};  // 1: 256 ... 5: 4096
inline constexpr Field kLogMessageMax{0x08, 28, 24};
inline constexpr Field kLogRqSize{0x08, 22, 19};
inline constexpr Field kLogRqStride{0x08, 18, 16};  // of 16 bytes
inline constexpr Field kNoSq = Bit(0x08, 15);
inline constexpr Field kLogSqSize{0x08, 14, 11};  // of WQEBBs
inline constexpr Field kCounterSet{0x0c, 31, 24};
inline constexpr Field kUar{0x0c, 23, 0};
inline constexpr Field kSendDbrMode{0x10, 31, 30};
inline constexpr Field kUserIndex{0x10, 23, 0};
inline constexpr Field kLogPageSize{0x14, 28, 24};
inline constexpr Field kRemoteQpn{0x14, 23, 0};
inline constexpr uint16_t kPrimaryPath = 0x18;
inline constexpr uint16_t kSecondaryPath = 0x44;
inline constexpr Field kLogAckFrequency{0x70, 31, 28};
inline constexpr Field kLogSraMax{0x70, 23, 21};
inline constexpr Field kRetryCount{0x70, 18, 16};
inline constexpr Field kRnrRetry{0x70, 15, 13};
inline constexpr Field kCurrentRnrRetry{0x70, 10, 8};
inline constexpr Field kCurrentRetryCount{0x70, 7, 5};
inline constexpr Field kNextSendPsn{0x78, 23, 0};
inline constexpr Field kSendCq{0x7c, 23, 0};
inline constexpr Field kLastAckedPsn{0x88, 23, 0};
inline constexpr Field kLogRraMax{0x90, 23, 21};
inline constexpr Field kAtomicMode{0x90, 19, 16};
inline constexpr Field kRemoteRead = Bit(0x90, 15);
inline constexpr Field kRemoteWrite = Bit(0x90, 14);
inline constexpr Field kRemoteAtomic = Bit(0x90, 13);
inline constexpr Field kPageOffset{0x90, 11, 6};  // of 64 bytes
inline constexpr Field kCdMaster = Bit(0x90, 0);
inline constexpr Field kMinRnrNak{0x94, 28, 24};
inline constexpr Field kNextReceivePsn{0x94, 23, 0};
inline constexpr Field kXrcd{0x98, 23, 0};
inline constexpr Field kReceiveCq{0x9c, 23, 0};
inline constexpr Wide kDbr{0xa0};  // an offset in its umem, else an address
inline constexpr Field kQkey = Dword(0xa8);
inline constexpr Field kRqType{0xac, 26, 24};
inline constexpr Field kSrq{0xac, 23, 0};
inline constexpr Field kMsn{0xb0, 23, 0};
inline constexpr Field kHwSqCounter{0xb4, 31, 16};
inline constexpr Field kSwSqCounter{0xb4, 15, 0};
inline constexpr Field kHwRqCounter = Dword(0xb8);
inline constexpr Field kSwRqCounter = Dword(0xbc);
inline constexpr Wide kDcKey{0xc8};
inline constexpr Field kDbrUmemValid = Bit(0xd0, 28);
inline constexpr Field kDbrUmem = Dword(0xe4);

enum ServiceType : uint32_t { kRc = 0, kUc = 1, kUd = 2, kXrc = 3, kDci = 5, kDct = 6 };
enum RqType : uint32_t { kOwnRq = 0, kSharedRq = 1, kNoRq = 3 };
inline constexpr uint32_t kStrideUnit = 16;
inline constexpr uint32_t kPageOffsetUnit = 64;

// CREATE_QP, and the transitions up to the umem.
inline constexpr Field kOptional = Dword(0x10);
inline constexpr uint16_t kAt = 0x18;
inline constexpr Wide kUmemOffset{0x100};
inline constexpr Field kUmem = Dword(0x108);
inline constexpr Field kUmemValid = Bit(0x10c, 31);
inline constexpr uint32_t kCreateBytes = 0x110;
inline constexpr uint32_t kTransitionBytes = kAt + kBytes;

// The bits of kOptional.
enum Option : uint32_t {
  kOptAlternatePath = 1 << 0,
  kOptRemoteRead = 1 << 1,
  kOptRemoteAtomic = 1 << 2,
  kOptRemoteWrite = 1 << 3,
  kOptPkeyIndex = 1 << 4,
  kOptQkey = 1 << 5,
  kOptRnrTimeout = 1 << 6,
  kOptPrimaryPath = 1 << 7,
  kOptSraMax = 1 << 8,
  kOptRraMax = 1 << 9,
  kOptPathMigration = 1 << 10,
  kOptRetryCount = 1 << 12,
  kOptRnrRetry = 1 << 13,
  kOptAckTimeout = 1 << 14,
  kOptPort = 1 << 16,
};
}  // namespace qpc

}  // namespace ringpost::sim::uverbs::prm
