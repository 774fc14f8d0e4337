#include "sim/uverbs/sysfs.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "sim/uverbs/identity.h"

namespace ringpost::sim::uverbs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBus = "10c0:00";  // a PCI domain that machines do not have

struct File {
  std::string path;  // below a folder
  std::string text;
};

void WriteFile(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file << text << "\n";
  file.flush();
}

void Link(const fs::path& at, const fs::path& to) {
  fs::create_directories(at.parent_path());
  fs::create_symlink(to, at);
}

// "0c42:a103:0000:0001"
std::string GuidText(uint64_t guid) {
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48, guid >> 32 & 0xffff,
                     guid >> 16 & 0xffff, guid & 0xffff);
}

std::string GidText(const wire::Gid& gid) {
  std::string text;
  for (size_t i = 0; i < gid.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid[i], gid[i + 1]);
  }
  return text;
}

std::vector<File> PciFiles() {
  using namespace identity;
  return {
      {"vendor", fmt::format("{:#06x}", kPciVendor)},
      {"device", fmt::format("{:#06x}", kPciDevice)},
      {"subsystem_vendor", fmt::format("{:#06x}", kPciVendor)},
      {"subsystem_device", "0x0023"},
      {"class", "0x020700"},
      {"revision", "0x00"},
      {"modalias", fmt::format("pci:v{:08X}d{:08X}sv{:08X}sd00000023bc02sc07i00", kPciVendor,
                               kPciDevice, kPciVendor)},
      {"numa_node", "-1"},
      {"max_link_speed", "32.0 GT/s PCIe"},
      {"max_link_width", "16"},
      {"current_link_speed", "32.0 GT/s PCIe"},
      {"current_link_width", "16"},
  };
}

std::vector<File> DeviceFiles(const DeviceSettings& device) {
  using namespace identity;
  const bool ethernet = device.link == wire::Link::kEthernet;
  return {
      {"node_type", "1: CA"},
      {"node_guid", GuidText(device.Guid())},
      {"sys_image_guid", GuidText(device.Guid())},
      {"node_desc", "virtual ConnectX " + device.name},
      {"fw_ver", kFirmwareText},
      {"hw_rev", "0"},
      {"board_id", kBoard},
      {"hca_type", kHcaType},
      {"ports/1/state", "4: ACTIVE"},
      {"ports/1/phys_state", "5: LinkUp"},
      {"ports/1/rate", "400 Gb/sec (4X NDR)"},
      {"ports/1/link_layer", ethernet ? "Ethernet" : "InfiniBand"},
      {"ports/1/lid", fmt::format("{:#x}", ethernet ? 0 : device.lid)},
      {"ports/1/lid_mask_count", "0"},
      {"ports/1/sm_lid", "0x0"},
      {"ports/1/sm_sl", "0"},
      {"ports/1/cap_mask", ethernet ? "0x04000000" : "0x00000800"},
      {"ports/1/gids/0", GidText(device.DefaultGid())},
      {"ports/1/gid_attrs/types/0", ethernet ? "RoCE v2" : "IB/RoCE v1"},
      {"ports/1/pkeys/0", "0xffff"},
  };
}

void WriteFiles(const fs::path& folder, const std::vector<File>& files) {
  for (const File& file : files) WriteFile(folder / file.path, file.text);
}

void WriteDevice(const fs::path& root, const DeviceSettings& device, size_t number) {
  const std::string function = fmt::format("{}:{:02x}.0", kBus, number % 32);
  const std::string slot = fmt::format("devices/pci{}/{}", kBus, function);
  const std::string uverbs = fmt::format("uverbs{}", number);
  const fs::path sys = root / "sys", pci = sys / slot;
  WriteFiles(pci, PciFiles());
  Link(pci / "subsystem", "../../../bus/pci");
  WriteFiles(pci / "infiniband" / device.name, DeviceFiles(device));
  Link(pci / "infiniband" / device.name / "device", "../..");
  WriteFiles(pci / "infiniband_verbs" / uverbs,
             {{"ibdev", device.name}, {"dev", identity::kNodeNumbers}, {"abi_version", "1"}});
  Link(pci / "infiniband_verbs" / uverbs / "device", "../..");
  const fs::path up = "../..";
  Link(sys / "class/infiniband" / device.name, up / slot / "infiniband" / device.name);
  Link(sys / "class/infiniband_verbs" / uverbs, up / slot / "infiniband_verbs" / uverbs);
  Link(sys / "bus/pci/devices" / function, "../../.." / fs::path(slot));
  Link(root / "dev/infiniband" / uverbs, identity::kNode);
}

}  // namespace

Result<bool> WriteTree(const std::string& root, const Settings& settings) {
  std::string refusal = RefusalOf(settings);
  if (!refusal.empty()) return Error{std::move(refusal)};
  try {
    const fs::path top(root);
    WriteFile(top / "sys/class/infiniband_verbs/abi_version", "6");
    const fs::path bus = fmt::format("sys/devices/pci{}/pci_bus/{}", kBus, kBus);
    fs::create_directories(top / bus);
    Link(top / "sys/class/pci_bus" / kBus, "../../.." / bus);
    for (size_t i = 0; i < settings.devices.size(); ++i) {
      WriteDevice(top, settings.devices[i], i);
    }
    WriteFile(top / "settings", ToText(settings));
  } catch (const std::exception& error) {
    return Error{
        fmt::format("{}: the virtual devices' files cannot be written: {}", root, error.what())};
  }
  return true;
}

}  // namespace ringpost::sim::uverbs
