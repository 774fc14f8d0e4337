// settings.h: the virtual devices of a machine, and how a process's NICs run.
//
// `ringpost exec` writes them into the folder of the synthetic sysfs tree, where the preloaded
// library of each program finds them: lines of words, as that library is to need no YAML.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/nic/rnic_config.h"
#include "sim/service/device.h"
#include "sim/wire/codec.h"
#include "transport/result.h"

namespace ringpost::sim::uverbs {

struct DeviceSettings {
  std::string name = "mlx5_0";
  uint16_t lid = 1;  // InfiniBand; on Ethernet it numbers the device alone
  wire::Link link = wire::Link::kInfiniband;

  uint64_t Guid() const;  // Mellanox's OUI and the LID, in host order
  // fe80::GUID, or ::ffff:10.0.LID on Ethernet.
  wire::Gid DefaultGid() const;
  service::DeviceInfo Info() const;
};

// kAuto: kYield where each of two programs and their NICs has a core, else kSleep.
enum class Idle : uint8_t { kAuto, kSpin, kYield, kSleep };

struct Settings {
  std::string fabric;  // of service::FabricSpec; empty: the user's id
  std::vector<DeviceSettings> devices;
  Idle idle = Idle::kAuto;
  std::chrono::microseconds sleep{20};  // kSleep: between two looks at the doorbells
  NicLimits limits = DefaultLimits();

  // What ConnectX-7 lists where this NIC has as much, else what this NIC has.
  static NicLimits DefaultLimits();
};

// `devices` of them: mlx5_0 with LID 1 and so on.
Settings DefaultSettings(uint32_t devices);

std::string ToText(const Settings& settings);
Result<Settings> ParseSettings(const std::string& text);
// ROOT/settings
Result<Settings> ReadSettings(const std::string& root);

// "device mlx5_0: LID 0 ...", or nothing.
std::string RefusalOf(const Settings& settings);

}  // namespace ringpost::sim::uverbs
