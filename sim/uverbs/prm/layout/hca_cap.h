// hca_cap.h: what QUERY_HCA_CAP answers, group by group (PRM "HCA Capabilities"); offsets count
// from the start of the group.
#pragma once

#include "sim/uverbs/prm/field.h"

namespace ringpost::sim::uverbs::prm {

enum class CapGroup : uint32_t {
  kGeneral = 0x00,
  kOdp = 0x02,
  kAtomic = 0x03,
  kRoce = 0x04,
  kNicFlowTable = 0x07,
  kDeviceMemory = 0x0f,
  kGeneral2 = 0x20,
};
inline constexpr uint16_t kCapAt = 0x10;
inline constexpr uint32_t kCapBytes = 0x100;

namespace cap {
inline constexpr Field kHasGeneral2 = Bit(0x04, 31);
inline constexpr Field kVhca{0x04, 15, 0};
inline constexpr Field kLogMaxSrqSize{0x10, 31, 24};
inline constexpr Field kLogMaxQpSize{0x10, 23, 16};
inline constexpr Field kIsolate = Bit(0x10, 12);
inline constexpr Field kLogMaxQp{0x10, 4, 0};
inline constexpr Field kLogMaxSrq{0x14, 20, 16};
inline constexpr Field kLogMaxCqSize{0x18, 23, 16};
inline constexpr Field kLogMaxCq{0x18, 4, 0};
inline constexpr Field kLogMaxMkey{0x1c, 21, 16};
inline constexpr Field kLogMaxEq{0x1c, 3, 0};
inline constexpr Field kLogMaxRegion{0x20, 22, 16};
inline constexpr Field kLogMaxRaRequesterDc{0x24, 21, 16};
inline constexpr Field kLogMaxRaResponderDc{0x24, 5, 0};
inline constexpr Field kLogMaxRaRequester{0x28, 21, 16};
inline constexpr Field kLogMaxRaResponder{0x28, 5, 0};
inline constexpr Field kGidTableSize{0x2c, 15, 0};  // a code: 0 is 8 entries, 1 is 16 ...
inline constexpr Field kPkeyTableSize{0x30, 15, 0};
inline constexpr Field kPortType{0x34, 9, 8};
inline constexpr Field kPorts{0x34, 7, 0};
inline constexpr Field kLogMaxMessage{0x38, 28, 24};
inline constexpr Field kCqeVersion{0x3c, 3, 0};
inline constexpr Field kCompactAddressVector = Bit(0x40, 31);
inline constexpr Field kDct = Bit(0x40, 5);
inline constexpr Field kRoce = Bit(0x40, 2);
inline constexpr Field kAtomic = Bit(0x40, 1);
inline constexpr Field kCqOverrunIgnore = Bit(0x44, 31);
inline constexpr Field kCrossChannel = Bit(0x44, 19);
inline constexpr Field kUd = Bit(0x44, 2);
inline constexpr Field kUc = Bit(0x44, 1);
inline constexpr Field kRc = Bit(0x44, 0);
inline constexpr Field kUar4k = Bit(0x48, 31);
inline constexpr Field kLogPageSize{0x48, 7, 0};
inline constexpr Field kBlueFlame = Bit(0x4c, 31);
inline constexpr Field kLogBlueFlameSize{0x4c, 20, 16};
inline constexpr Field kMaxSendWqe{0x50, 15, 0};
inline constexpr Field kMaxReceiveWqe{0x54, 15, 0};
inline constexpr Field kMaxSendWqeDc{0x58, 15, 0};
inline constexpr Field kLogMaxPd{0x64, 20, 16};
inline constexpr Field kLogMaxRmp{0x70, 28, 24};
inline constexpr Field kLogMaxWqSize{0x78, 4, 0};
}  // namespace cap

namespace cap2 {
inline constexpr Field kRecordFree = Bit(0x5c, 30);  // QPC.send_dbr_mode without a record
}  // namespace cap2

// Bits: send 32, receive 16, write 8, read 4, atomic 2, receive from an SRQ 1.
namespace odp_cap {
inline constexpr Field kRc{0x10, 31, 26};
inline constexpr Field kUd{0x18, 31, 26};
inline constexpr Field kDc{0x20, 31, 26};
}  // namespace odp_cap

namespace atomic_cap {
inline constexpr Field kEndianness{0x08, 31, 30};
inline constexpr Field kHostEndianness = Bit(0x08, 25);
inline constexpr Field kOperations{0x10, 15, 0};  // CS 1, FA 2, masked CS 4, masked FA 8
inline constexpr Field kSizes{0x14, 15, 0};       // a bit for each size: the size itself
inline constexpr Field kSizesDc{0x18, 15, 0};
}  // namespace atomic_cap

namespace roce_cap {
inline constexpr Field kL3Types{0x10, 19, 16};  // IPv4 2, IPv6 4
inline constexpr Field kVersions{0x10, 7, 0};   // RoCEv2: 4
inline constexpr Field kUdpPort{0x14, 15, 0};
inline constexpr Field kMaxSourcePort{0x18, 31, 16};
inline constexpr Field kMinSourcePort{0x18, 15, 0};
inline constexpr Field kAddresses{0x1c, 15, 0};
}  // namespace roce_cap

}  // namespace ringpost::sim::uverbs::prm
