// prm_contexts.h: the contexts inside mailboxes: CQC, QPC, its address path (ADS), capabilities.
//
// Byte offsets count from the context's begin: prm::In(prm::kQpcAt, prm::qpc::kPd).
#pragma once

#include "backends/mlx5/prm_field.h"

namespace ringpost::mlx5::prm {

namespace cqc {
inline constexpr Field kRecordUmemValid{0x00, 25, 1};
inline constexpr Field kCqeSize{0x00, 21, 3};  // 0: 64 bytes
inline constexpr Field kCollapsed{0x00, 20, 1};
inline constexpr Field kIgnoreOverrun{0x00, 17, 1};
inline constexpr Field kRecordUmemId{0x04, 0, 32};
inline constexpr Field kLogSize{0x0c, 24, 5};
inline constexpr Field kUarPage{0x0c, 0, 24};
inline constexpr Field kEqn{0x14, 0, 8};
inline constexpr Field kLogPageSize{0x18, 24, 5};
inline constexpr Field kRecord{0x38, 0, 64};  // offset in its umem
}  // namespace cqc

namespace qpc {
inline constexpr Field kServiceType{0x00, 16, 8};
inline constexpr Field kPathMigration{0x00, 11, 2};
inline constexpr Field kPd{0x04, 0, 24};
inline constexpr Field kMtu{0x08, 29, 3};
inline constexpr Field kLogMaxMessage{0x08, 24, 5};
inline constexpr Field kLogRqSize{0x08, 19, 4};
inline constexpr Field kLogRqStride{0x08, 16, 3};  // 0: 16 bytes
inline constexpr Field kLogSqSize{0x08, 11, 4};    // WQEBBs
inline constexpr Field kUarPage{0x0c, 0, 24};
inline constexpr Field kUserIndex{0x10, 0, 24};
inline constexpr Field kRemoteQpn{0x14, 0, 24};
inline constexpr uint32_t kPrimaryPath = 0x18;  // an ADS
inline constexpr Field kLogAckRequest{0x70, 28, 4};
inline constexpr Field kLogRequesterDepth{0x70, 21, 3};  // READs and atomics under way
inline constexpr Field kRetryCount{0x70, 16, 3};
inline constexpr Field kRnrRetry{0x70, 13, 3};
inline constexpr Field kNextSendPsn{0x78, 0, 24};
inline constexpr Field kSendCq{0x7c, 0, 24};
inline constexpr Field kLogResponderDepth{0x90, 21, 3};
inline constexpr Field kAtomicMode{0x90, 16, 4};
inline constexpr Field kRemoteRead{0x90, 15, 1};
inline constexpr Field kRemoteWrite{0x90, 14, 1};
inline constexpr Field kRemoteAtomic{0x90, 13, 1};
inline constexpr Field kMinRnrNak{0x94, 24, 5};
inline constexpr Field kNextReceivePsn{0x94, 0, 24};
inline constexpr Field kReceiveCq{0x9c, 0, 24};
inline constexpr Field kRecord{0xa0, 0, 64};  // offset in its umem
inline constexpr Field kRqType{0xac, 24, 3};
inline constexpr Field kScatterRequester{0xc4, 8, 8};
inline constexpr Field kScatterResponder{0xc4, 0, 8};
inline constexpr Field kRecordUmemValid{0xd0, 28, 1};
inline constexpr Field kRecordUmemId{0xe4, 0, 32};

enum class Service : uint8_t { kRc = 0, kDci = 5 };
inline constexpr uint64_t kMigrated = 3;
inline constexpr uint64_t kRqOwn = 0;
inline constexpr uint64_t kRqEmpty = 3;
inline constexpr uint64_t kAtomic8Bytes = 3;
}  // namespace qpc

namespace ads {
inline constexpr Field kPkeyIndex{0x00, 0, 16};
inline constexpr Field kGrh{0x04, 23, 1};
inline constexpr Field kMlid{0x04, 16, 7};
inline constexpr Field kRlid{0x04, 0, 16};
inline constexpr Field kAckTimeout{0x08, 27, 5};
inline constexpr Field kSourceAddress{0x08, 16, 8};  // index in the GID table
inline constexpr Field kHopLimit{0x08, 0, 8};
inline constexpr Field kTrafficClass{0x0c, 20, 8};
inline constexpr uint32_t kRemoteGid = 0x10;  // 16 bytes, as on the wire
inline constexpr Field kDscp{0x20, 16, 6};
inline constexpr Field kUdpSourcePort{0x20, 0, 16};
inline constexpr Field kServiceLevel{0x24, 24, 4};
inline constexpr Field kPort{0x24, 16, 8};
inline constexpr Field kRemoteMacHigh{0x24, 0, 16};
inline constexpr Field kRemoteMacLow{0x28, 0, 32};
}  // namespace ads

namespace cap {
inline constexpr Field kLogMaxQpSize{0x10, 16, 8};
inline constexpr Field kCqeVersion{0x3c, 0, 4};
inline constexpr Field kCompactAddressVector{0x40, 31, 1};
inline constexpr Field kDct{0x40, 5, 1};
inline constexpr Field kMaxSendWqeBytes{0x50, 0, 16};
inline constexpr Field kMaxSendWqeBytesDc{0x58, 0, 16};
}  // namespace cap

// Of the group of atomics.
namespace atomic_cap {
inline constexpr Field kReturnsHostOrder{0x08, 30, 2};  // of 8 bytes; 0: big-endian
}  // namespace atomic_cap

}  // namespace ringpost::mlx5::prm
