// device.h: what names a NIC of a machine, and how a process's part of it is numbered.
#pragma once

#include <cstdint>
#include <string>

#include "sim/wire/addressing.h"
#include "sim/wire/codec.h"

namespace ringpost::sim::service {

// As ibv_devinfo lists it. LID and GID belong to the device, whoever uses it.
struct DeviceInfo {
  std::string name;
  uint16_t lid = 0;  // InfiniBand alone; unique on the machine, as the GID is
  wire::Gid gid{};
  wire::Link link = wire::Link::kEthernet;

  bool operator==(const DeviceInfo&) const = default;
};

// Where a packet goes to or comes from: a LID, or a GID where `lid` is 0.
struct Address {
  uint16_t lid = 0;
  wire::Gid gid{};

  bool operator==(const Address&) const = default;
};

inline Address AddressOf(const DeviceInfo& device) { return {device.lid, device.gid}; }

// A process attaches to a device as a slot: the top 8 bits of its QPNs (24 bits) and of its keys
// (32 bits). No process has slot 0, to which QP 0 and QP 1 would belong.
inline constexpr uint32_t kMaxSlots = 256;

constexpr uint32_t FirstQpn(uint8_t slot) { return uint32_t{slot} << 16; }
constexpr uint32_t FirstKey(uint8_t slot) { return uint32_t{slot} << 24; }
constexpr uint8_t SlotOfQpn(uint32_t qpn) { return static_cast<uint8_t>(qpn >> 16); }

}  // namespace ringpost::sim::service
