// identity.h: who the virtual device says it is: a ConnectX-7, so that mlx5's provider takes it.
#pragma once

#include <cstdint>

namespace ringpost::sim::uverbs::identity {

inline constexpr uint32_t kVendor = 0x02c9;  // Mellanox, as an IEEE OUI
inline constexpr uint32_t kPart = 4129;      // MT4129
// No board of Mellanox: whoever reports a measurement reports this with it.
inline constexpr const char* kBoard = "RINGPOST_VIRTUAL";
inline constexpr const char* kHcaType = "MT4129";
inline constexpr uint16_t kPciVendor = 0x15b3, kPciDevice = 0x1021;
// major << 32 | minor << 16 | sub-minor
inline constexpr uint64_t kFirmware = uint64_t{28} << 32 | 43 << 16 | 1014;
inline constexpr const char* kFirmwareText = "28.43.1014";

// The node and its numbers: those of a character device that every machine has.
inline constexpr const char* kNode = "/dev/null";
inline constexpr const char* kNodeNumbers = "1:3";

}  // namespace ringpost::sim::uverbs::identity
