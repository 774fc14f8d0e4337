// checksum.h: the checksums of a packet: ICRC, VCRC (IBA specification, 7.8) and IP's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringpost::sim::wire {

inline constexpr size_t kIcrcBytes = 4;
inline constexpr size_t kVcrcBytes = 2;

// The invariant CRC covers what no switch and no router changes: fields that they may change count
// as ones. Both functions are given all bytes before the ICRC, which hold a BTH at least, and
// return a number that travels with its lowest byte first.
//
// From the IP header on; IPv4 has no options. Annex A17 puts eight bytes of ones before it, which
// stand for the route header of InfiniBand.
uint32_t RoceIcrc(std::span<const uint8_t> ip_packet);
// From the local route header on.
uint32_t InfinibandIcrc(std::span<const uint8_t> packet);

// The variant CRC covers all bytes before it, and is renewed on each link.
uint16_t Vcrc(std::span<const uint8_t> packet);

// The ones' complement sum of 16-bit words (RFC 1071), not yet inverted; chain by `sum`.
uint32_t OnesSum(std::span<const uint8_t> bytes, uint32_t sum = 0);

}  // namespace ringpost::sim::wire
