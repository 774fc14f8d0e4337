#include "sim/uverbs/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/uverbs/overlay_settings.h"

namespace ringpost::sim::uverbs {
namespace {

constexpr uint64_t kOui = 0x0c42a1;  // Mellanox Technologies
constexpr uint32_t kMostDevices = 64;

constexpr const char* kIdleNames[] = {"auto", "spin", "yield", "sleep"};
constexpr const char* kLinkNames[] = {"ethernet", "infiniband"};

struct Limit {
  const char* name;
  uint32_t NicLimits::*field;
};
constexpr Limit kLimits[] = {
    {"qps", &NicLimits::qps},
    {"cqs", &NicLimits::cqs},
    {"srqs", &NicLimits::srqs},
    {"sq_depth_wqebbs", &NicLimits::sq_depth_wqebbs},
    {"rq_depth_wqes", &NicLimits::rq_depth_wqes},
    {"srq_depth_wqes", &NicLimits::srq_depth_wqes},
    {"cq_entries", &NicLimits::cq_entries},
    {"rd_atomic", &NicLimits::rd_atomic},
    {"message_bytes", &NicLimits::message_bytes},
};

// A word that may also be a file's name.
bool IsName(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
}

template <size_t N>
int IndexOf(const char* const (&names)[N], const std::string& word) {
  for (size_t i = 0; i < N; ++i) {
    if (word == names[i]) return static_cast<int>(i);
  }
  return -1;
}

bool ReadDevice(std::istringstream& words, Settings& settings) {
  DeviceSettings device;
  std::string link;
  if (!(words >> device.name >> device.lid >> link)) return false;
  const int known = IndexOf(kLinkNames, link);
  if (known < 0) return false;
  device.link = static_cast<wire::Link>(known);
  settings.devices.push_back(device);
  return true;
}

bool ReadLimit(std::istringstream& words, Settings& settings) {
  std::string name;
  uint32_t value = 0;
  if (!(words >> name >> value)) return false;
  for (const Limit& limit : kLimits) {
    if (name == limit.name) {
      settings.limits.*limit.field = value;
      return true;
    }
  }
  return false;
}

bool ReadIdle(std::istringstream& words, Settings& settings) {
  std::string name;
  int64_t sleep = 0;
  if (!(words >> name >> sleep)) return false;
  const int known = IndexOf(kIdleNames, name);
  settings.idle = static_cast<Idle>(known < 0 ? 0 : known);
  settings.sleep = std::chrono::microseconds(sleep);
  return known >= 0 && sleep > 0;
}

bool ReadObserving(std::istringstream& words, Settings& settings) {
  Observing& wanted = settings.observing;
  return static_cast<bool>(words >> wanted.counters >> wanted.steps >> wanted.packets) &&
         (wanted.steps == 0 || std::has_single_bit(wanted.steps));
}

bool ReadLine(const std::string& line, Settings& settings) {
  std::istringstream words(line);
  std::string key;
  words >> key;
  if (key.empty()) return true;
  if (key == "fabric") return static_cast<bool>(words >> settings.fabric);
  if (key == "device") return ReadDevice(words, settings);
  if (key == "limit") return ReadLimit(words, settings);
  if (IsOverlay(key)) return ReadOverlay(key, words, settings);
  if (key == "observe") return ReadObserving(words, settings);
  return key == "idle" && ReadIdle(words, settings);
}

}  // namespace

uint64_t DeviceSettings::Guid() const { return (kOui << 40) | (uint64_t{0x0300} << 24) | lid; }

wire::Gid DeviceSettings::DefaultGid() const {
  if (link == wire::Link::kEthernet) {
    return wire::MappedGid(10, 0, static_cast<uint8_t>(lid >> 8), static_cast<uint8_t>(lid));
  }
  wire::Gid gid{0xfe, 0x80};
  for (int i = 0; i < 8; ++i) gid[8 + i] = static_cast<uint8_t>(Guid() >> (56 - 8 * i));
  return gid;
}

wire::MacAddress MacOf(const wire::Gid& gid) { return {2, 0, gid[12], gid[13], gid[14], gid[15]}; }

service::DeviceInfo DeviceSettings::Info() const {
  const bool ethernet = link == wire::Link::kEthernet;
  return {name, static_cast<uint16_t>(ethernet ? 0 : lid), DefaultGid(), link};
}

NicLimits Settings::DefaultLimits() {
  NicLimits limits;
  // Programs that ask for the most get it allocated: NVSHMEM's CQ of max_cqe entries for one.
  limits.cq_entries = 1u << 22;
  return limits;
}

Settings DefaultSettings(uint32_t devices) {
  Settings settings;
  for (uint32_t i = 0; i < devices; ++i) {
    settings.devices.push_back(
        {.name = fmt::format("mlx5_{}", i), .lid = static_cast<uint16_t>(i + 1)});
  }
  return settings;
}

std::string RefusalOf(const Settings& settings) {
  if (settings.devices.empty() || settings.devices.size() > kMostDevices) {
    return fmt::format("{} virtual devices; give 1 to {}", settings.devices.size(), kMostDevices);
  }
  std::set<uint16_t> lids;
  std::set<std::string> names;
  if (!settings.fabric.empty() && !IsName(settings.fabric)) {
    return fmt::format("fabric '{}': use letters, digits, '.', '_' and '-'", settings.fabric);
  }
  for (const DeviceSettings& device : settings.devices) {
    if (!IsName(device.name)) {
      return fmt::format("device '{}': use letters, digits, '.', '_' and '-'", device.name);
    }
    // Unicast LIDs.
    if (device.lid == 0 || device.lid >= 0xc000) {
      return fmt::format("device {}: LID {} is no port's; use 1 to 49151", device.name, device.lid);
    }
    if (!names.insert(device.name).second || !lids.insert(device.lid).second) {
      return fmt::format("device {}: its name or LID {} is given twice", device.name, device.lid);
    }
  }
  return {};
}

std::string ToText(const Settings& settings) {
  std::string text;
  if (!settings.fabric.empty()) text += "fabric " + settings.fabric + "\n";
  text += fmt::format("idle {} {}\n", kIdleNames[static_cast<int>(settings.idle)],
                      settings.sleep.count());
  const Observing& wanted = settings.observing;
  text += fmt::format("observe {:d} {} {:d}\n", wanted.counters, wanted.steps, wanted.packets);
  for (const Limit& limit : kLimits) {
    text += fmt::format("limit {} {}\n", limit.name, settings.limits.*limit.field);
  }
  text += OverlayText(settings);
  for (const DeviceSettings& device : settings.devices) {
    text += fmt::format("device {} {} {}\n", device.name, device.lid,
                        kLinkNames[static_cast<int>(device.link)]);
  }
  return text;
}

Result<Settings> ParseSettings(const std::string& text) {
  Settings settings;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (!ReadLine(line, settings)) {
      return Error{fmt::format("line {}: '{}' is no setting of a virtual device", number, line)};
    }
  }
  std::string refusal = RefusalOf(settings);
  if (!refusal.empty()) return Error{std::move(refusal)};
  return settings;
}

std::string ObservedFolder(const std::string& root) { return root + "/observed"; }

Result<Settings> ReadSettings(const std::string& root) {
  const std::string path = root + "/settings";
  std::ifstream file(path);
  std::stringstream text;
  if (!(text << file.rdbuf())) return Error{path + ": cannot be read"};
  Result<Settings> settings = ParseSettings(text.str());
  if (!settings.Ok()) return Error{path + ": " + settings.Message()};
  settings.Value().folder = ObservedFolder(root);
  return settings;
}

}  // namespace ringpost::sim::uverbs
