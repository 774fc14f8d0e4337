// settings.h: the virtual devices of a machine, and how a process's NICs run.
//
// `ringpost exec` writes them into the folder of the synthetic sysfs tree, where the preloaded
// library of each program finds them: lines of words, as that library is to need no YAML.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/nic/rnic_config.h"
#include "sim/service/device.h"
#include "sim/service/pace.h"
#include "sim/wire/addressing.h"
#include "sim/wire/codec.h"
#include "sim/wire/faults.h"
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

// Of a port of this fabric: its GIDs end in the four bytes that its MAC address ends in.
wire::MacAddress MacOf(const wire::Gid& gid);

// kAuto: kYield where each of two programs and their NICs has a core, else kSleep.
enum class Idle : uint8_t { kAuto, kSpin, kYield, kSleep };

// What of the NICs is written down, in files of a folder that `ringpost exec` reads afterwards.
struct Observing {
  bool counters = false;
  uint32_t steps = 0;  // kept, the last ones of each NIC; a power of two, or 0; with counters alone
  bool packets = false;
};

struct Settings {
  std::string fabric;  // of service::FabricSpec; empty: the user's id
  std::vector<DeviceSettings> devices;
  Idle idle = Idle::kAuto;
  std::chrono::microseconds sleep{20};  // kSleep: between two looks at the doorbells
  NicLimits limits = DefaultLimits();
  Observing observing;
  std::optional<service::PaceSpec> pace;
  // Each device is the node of its number.
  std::vector<FaultRule> faults;
  uint64_t seed = 1;   // of the faults
  std::string folder;  // where the files of that are; ReadSettings() sets it

  // What ConnectX-7 lists where this NIC has as much, else what this NIC has.
  static NicLimits DefaultLimits();
};

// `devices` of them: mlx5_0 with LID 1 and so on.
Settings DefaultSettings(uint32_t devices);

std::string ToText(const Settings& settings);
Result<Settings> ParseSettings(const std::string& text);
// ROOT/settings
Result<Settings> ReadSettings(const std::string& root);
// What their names end in: sim/service/observation.h, packet_log.h.
inline constexpr char kObservationSuffix[] = ".nic";
inline constexpr char kPacketsSuffix[] = ".packets";
// ROOT/observed, for Settings::folder.
std::string ObservedFolder(const std::string& root);

// "device mlx5_0: LID 0 ...", or nothing.
std::string RefusalOf(const Settings& settings);

}  // namespace ringpost::sim::uverbs
