// port_address.h: what two ports tell each other, and what they agree on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/nic.h"

namespace ringpost::mlx5 {

using Gid = std::array<uint8_t, 16>;  // as on the wire

enum class Link : uint8_t { kInfiniband = 1, kEthernet = 2 };
enum class GidKind : uint8_t { kInfiniband, kRoceV1, kRoceV2 };

std::string_view NameOf(Link link);
// "fe80:0000:..."
std::string TextOf(const Gid& gid);

struct GidEntry {
  uint32_t index = 0;
  GidKind kind = GidKind::kInfiniband;
  Gid gid = {};
};

// On Ethernet a RoCE v2 entry: one of an IPv4 address, else a routable IPv6 one, else a link-local
// one. On InfiniBand the first. A wanted index is taken as it is, if the table has it.
Result<GidEntry> ChooseGid(const std::vector<GidEntry>& table, Link link,
                           std::optional<uint32_t> wanted);

// One end. It travels in QpAddress::port.
struct PortAddress {
  Link link = Link::kInfiniband;
  uint8_t mtu = 0;         // as verbs count it: 1 is 256 bytes, 5 is 4096
  bool needs_grh = false;  // its subnet asks for a global header
  uint16_t lid = 0;
  uint16_t pkey = 0;
  Gid gid = {};
};

std::array<uint8_t, 32> Pack(const PortAddress& address);
// Empty if the bytes are no such address, e.g. of another backend.
std::optional<PortAddress> Unpack(const std::array<uint8_t, 32>& bytes);

// What a QP of `here` needs to reach `there`.
struct Path {
  Link link = Link::kInfiniband;
  uint8_t mtu = 0;  // the smaller one
  bool global = false;
  uint16_t lid = 0;
  Gid gid = {};
};

// Or one line that names what does not fit, and `port`, this end.
Result<Path> Agree(const std::string& port, const PortAddress& here,
                   const std::optional<PortAddress>& there);

constexpr uint32_t BytesOfMtu(uint8_t mtu) { return mtu == 0 ? 0 : 128u << mtu; }

}  // namespace ringpost::mlx5
