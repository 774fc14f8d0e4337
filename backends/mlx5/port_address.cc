#include "backends/mlx5/port_address.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringpost::mlx5 {
namespace {

// Of the layout below; a reader of another one does not guess.
constexpr uint8_t kVersion = 0x51;
constexpr size_t kGidAt = 8;

constexpr uint16_t kFullMember = 0x8000;  // of a partition: the upper bit of its key

bool IsZero(const Gid& gid) { return gid == Gid{}; }

bool IsLinkLocal(const Gid& gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

bool IsMappedIpv4(const Gid& gid) {
  return std::all_of(gid.begin(), gid.begin() + 10, [](uint8_t byte) { return byte == 0; }) &&
         gid[10] == 0xff && gid[11] == 0xff;
}

std::string_view NameOf(GidKind kind) {
  constexpr std::string_view kNames[] = {"InfiniBand", "RoCE v1", "RoCE v2"};
  return kNames[static_cast<size_t>(kind)];
}

// Smaller is better.
int Rank(const GidEntry& entry) {
  if (entry.kind != GidKind::kRoceV2) return 4;
  return IsMappedIpv4(entry.gid) ? 0 : IsLinkLocal(entry.gid) ? 2 : 1;
}

std::string TableText(const std::vector<GidEntry>& table) {
  std::string text;
  for (const GidEntry& entry : table) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", entry.index, TextOf(entry.gid),
                        NameOf(entry.kind));
  }
  return text.empty() ? "is empty" : "has " + text;
}

}  // namespace

std::string_view NameOf(Link link) {
  return link == Link::kInfiniband ? "InfiniBand" : "Ethernet (RoCE)";
}

std::string TextOf(const Gid& gid) {
  std::string text;
  for (size_t i = 0; i < gid.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid[i], gid[i + 1]);
  }
  return text;
}

Result<GidEntry> ChooseGid(const std::vector<GidEntry>& table, Link link,
                           std::optional<uint32_t> wanted) {
  const GidEntry* best = nullptr;
  for (const GidEntry& entry : table) {
    if (wanted) {
      if (entry.index == *wanted) best = &entry;
    } else if (link == Link::kInfiniband) {
      if (best == nullptr) best = &entry;
    } else if (Rank(entry) < 4 && (best == nullptr || Rank(entry) < Rank(*best))) {
      best = &entry;
    }
  }
  if (best != nullptr) return *best;
  if (wanted) {
    return Error{fmt::format("there is no GID at mlx5.gid_index {}; the table {}", *wanted,
                             TableText(table))};
  }
  return Error{
      fmt::format("no GID is of RoCE v2: the table {}; give the port an IP address, or set "
                  "mlx5.gid_index",
                  TableText(table))};
}

std::array<uint8_t, 32> Pack(const PortAddress& address) {
  std::array<uint8_t, 32> bytes = {};
  bytes[0] = kVersion;
  bytes[1] = static_cast<uint8_t>(address.link);
  bytes[2] = address.mtu;
  bytes[3] = address.needs_grh ? 1 : 0;
  bytes[4] = static_cast<uint8_t>(address.lid >> 8);
  bytes[5] = static_cast<uint8_t>(address.lid);
  bytes[6] = static_cast<uint8_t>(address.pkey >> 8);
  bytes[7] = static_cast<uint8_t>(address.pkey);
  std::copy(address.gid.begin(), address.gid.end(), bytes.begin() + kGidAt);
  return bytes;
}

std::optional<PortAddress> Unpack(const std::array<uint8_t, 32>& bytes) {
  const bool link = bytes[1] == static_cast<uint8_t>(Link::kInfiniband) ||
                    bytes[1] == static_cast<uint8_t>(Link::kEthernet);
  if (bytes[0] != kVersion || !link || bytes[2] < 1 || bytes[2] > 5) return std::nullopt;
  PortAddress address;
  address.link = static_cast<Link>(bytes[1]);
  address.mtu = bytes[2];
  address.needs_grh = bytes[3] != 0;
  address.lid = static_cast<uint16_t>(bytes[4] << 8 | bytes[5]);
  address.pkey = static_cast<uint16_t>(bytes[6] << 8 | bytes[7]);
  std::copy_n(bytes.begin() + kGidAt, address.gid.size(), address.gid.begin());
  return address;
}

Result<Path> Agree(const std::string& port, const PortAddress& here,
                   const std::optional<PortAddress>& there) {
  const auto refuse = [&](const std::string& why) {
    return Error{fmt::format("{} ({}): {}", port, NameOf(here.link), why)};
  };
  if (!there) return refuse("the peer's address is of no mlx5 NIC; use one backend on all ranks");
  if (here.link != there->link) {
    return refuse(
        fmt::format("the peer's port is {}; choose ports of one link layer in "
                    "mlx5.devices",
                    NameOf(there->link)));
  }
  if (((here.pkey ^ there->pkey) & ~kFullMember) != 0 ||
      ((here.pkey | there->pkey) & kFullMember) == 0) {
    return refuse(
        fmt::format("partition key {:#06x} does not reach the peer's {:#06x}; set "
                    "mlx5.pkey_index to a partition that both are in",
                    here.pkey, there->pkey));
  }
  Path path;
  path.link = here.link;
  path.mtu = std::min(here.mtu, there->mtu);
  path.global = here.link == Link::kEthernet || here.needs_grh || there->needs_grh;
  path.lid = there->lid;
  path.gid = there->gid;
  if (path.link == Link::kInfiniband && path.lid == 0) {
    return refuse("the peer says LID 0, which is no port's; is its subnet manager running?");
  }
  if (path.global && IsZero(path.gid)) return refuse("the peer has no GID");
  return path;
}

}  // namespace ringpost::mlx5
