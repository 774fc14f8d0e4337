// wire_sizes.h: how long the fixed headers are, and the few numbers that stand in them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringpost::sim::wire {

inline constexpr size_t kEthernetBytes = 14;
inline constexpr size_t kIpv4Bytes = 20;  // without options
inline constexpr size_t kIpv6Bytes = 40;
inline constexpr size_t kUdpBytes = 8;
inline constexpr size_t kLrhBytes = 8;
inline constexpr size_t kGrhBytes = 40;
inline constexpr size_t kBthBytes = 12;
inline constexpr size_t kCnpReservedBytes = 16;
inline constexpr size_t kMaxPayloadBytes = 4096;  // the largest MTU

inline constexpr uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr uint16_t kEtherTypeIpv6 = 0x86dd;
inline constexpr uint8_t kProtocolUdp = 17;
inline constexpr uint8_t kProtocolBth = 0x1b;  // the GRH's next header

// The LRH's link next header.
inline constexpr uint8_t kLnhLocal = 2;
inline constexpr uint8_t kLnhGlobal = 3;

}  // namespace ringpost::sim::wire
