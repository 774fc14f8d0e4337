// address.h: where a packet goes: the port of a peer, as an address vector or a QP's path names it.
//
// Within a port the upper 8 bits of the QPN pick the owner; the address is the same for all.
#pragma once

#include <array>
#include <cstdint>

namespace ringpost::sim {

struct Address {
  uint16_t lid = 0;
  uint8_t sl = 0;
  uint8_t path_bits = 0;
  bool global = false;  // a GRH: the fields below count
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 0;
  uint8_t gid_index = 0;
  uint32_t flow_label = 0;
  uint16_t udp_source_port = 0;
  std::array<uint8_t, 6> mac{};
  std::array<uint8_t, 16> gid{};

  // Of the same port, whatever the service level. With a GRH the GID alone counts: on Ethernet the
  // LID's place holds the UDP source port.
  bool SamePort(const Address& other) const {
    return global == other.global && (global ? gid == other.gid : lid == other.lid);
  }
  bool operator==(const Address&) const = default;
};

}  // namespace ringpost::sim
