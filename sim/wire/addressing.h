// addressing.h: what carries a packet: RoCEv2 on Ethernet, or InfiniBand's own link.
//
// All that a frame holds besides the packet itself and what follows from both (lengths, checksums).
// Fields are in host order; arrays are as they stand on the wire.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>

namespace ringpost::sim::wire {

using MacAddress = std::array<uint8_t, 6>;

// An IPv6 address. As everywhere in RoCE, ::ffff:a.b.c.d stands for the IPv4 address a.b.c.d.
using Gid = std::array<uint8_t, 16>;

constexpr Gid MappedGid(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
}

constexpr bool IsMapped(const Gid& gid) {
  for (int i = 0; i < 10; ++i) {
    if (gid[i] != 0) return false;
  }
  return gid[10] == 0xff && gid[11] == 0xff;
}

inline constexpr uint16_t kRoceUdpPort = 4791;

// Carried by IPv4 if both GIDs are IPv4 addresses, by IPv6 if neither is. No VLAN tag.
struct RoceAddressing {
  MacAddress source_mac{};
  MacAddress target_mac{};
  Gid source = MappedGid(0, 0, 0, 0);
  Gid target = MappedGid(0, 0, 0, 0);
  uint8_t dscp = 0;              // 6 bits
  uint8_t ecn = 0;               // 2 bits
  uint8_t ttl = 64;              // IPv6: the hop limit
  uint16_t ip_id = 0;            // IPv4 alone
  bool dont_fragment = true;     // IPv4 alone
  uint32_t flow_label = 0;       // IPv6 alone; 20 bits
  uint16_t source_port = 49152;  // a QP's packets share one, so that routers keep their order

  bool operator==(const RoceAddressing&) const = default;
};

// The global route header: for another subnet, and for a UD packet that wants one.
struct GlobalRoute {
  Gid source{};
  Gid target{};
  uint8_t traffic_class = 0;
  uint32_t flow_label = 0;  // 20 bits
  uint8_t hop_limit = 64;

  bool operator==(const GlobalRoute&) const = default;
};

struct InfinibandAddressing {
  uint16_t source_lid = 0;
  uint16_t target_lid = 0;
  uint8_t virtual_lane = 0;   // 4 bits
  uint8_t service_level = 0;  // 4 bits
  std::optional<GlobalRoute> global;

  bool operator==(const InfinibandAddressing&) const = default;
};

using Addressing = std::variant<RoceAddressing, InfinibandAddressing>;

}  // namespace ringpost::sim::wire
