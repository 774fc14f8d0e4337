#include "tools/ringpost/probe_devices.h"

#include <regex>

namespace ringpost::tools {
namespace {

constexpr char kRdma[] = "/sys/class/infiniband/";
constexpr char kVerbs[] = "/sys/class/infiniband_verbs/";
constexpr char kPci[] = "/sys/bus/pci/devices/";
constexpr char kNvidia[] = "/proc/driver/nvidia/";
constexpr char kNvidiaVendor[] = "0x10de";
constexpr char kDisplayClass[] = "0x03";  // VGA, 3D and other display controllers
constexpr char kUnsetGid[] = "0000:0000:0000:0000:0000:0000:0000:0000";

Locality PlaceOf(const SystemFiles& files, const std::string& device) {
  Locality place;
  const std::string node = files.ReadOr(device + "/numa_node", "-1");
  place.numa_node = std::atoi(node.c_str());
  place.cpus = files.ReadOr(device + "/local_cpulist", "");
  return place;
}

RdmaPort ProbePort(const SystemFiles& files, const std::string& folder, const std::string& number) {
  const std::string at = folder + "/ports/" + number;
  RdmaPort port;
  port.number = number;
  const std::string state = files.ReadOr(at + "/state", "unknown");  // "4: ACTIVE"
  const size_t colon = state.find(": ");
  port.state = colon == std::string::npos ? state : state.substr(colon + 2);
  port.link_layer = files.ReadOr(at + "/link_layer", "unknown");
  port.rate = files.ReadOr(at + "/rate", "unknown rate");
  for (const std::string& index : files.List(at + "/gids")) {
    const std::string gid = files.ReadOr(at + "/gids/" + index, kUnsetGid);
    if (gid == kUnsetGid) continue;
    port.gids.push_back({index, gid, files.ReadOr(at + "/gid_attrs/types/" + index, ""),
                         files.ReadOr(at + "/gid_attrs/ndevs/" + index, "")});
  }
  return port;
}

std::string VerbsFileOf(const SystemFiles& files, const std::string& device) {
  for (const std::string& name : files.List(kVerbs)) {
    if (files.ReadOr(kVerbs + name + "/ibdev", "") == device) return "/dev/infiniband/" + name;
  }
  return {};
}

// "Model: \t\t NVIDIA H200"
std::string ModelOf(const SystemFiles& files, const std::string& pci) {
  const std::string text = files.ReadOr(kNvidia + ("gpus/" + pci) + "/information", "");
  std::smatch model;
  return std::regex_search(text, model, std::regex("Model:\\s*([^\\n]*\\S)")) ? model[1].str() : "";
}

}  // namespace

std::vector<RdmaDevice> ProbeRdma(const SystemFiles& files) {
  std::vector<RdmaDevice> devices;
  for (const std::string& name : files.List(kRdma)) {
    const std::string folder = kRdma + name;
    RdmaDevice device;
    device.name = name;
    device.driver = files.LinkName(folder + "/device/driver");
    device.firmware = files.ReadOr(folder + "/fw_ver", "");
    device.place = PlaceOf(files, folder + "/device");
    device.verbs_file = VerbsFileOf(files, name);
    device.may_open = !device.verbs_file.empty() && files.MayWrite(device.verbs_file);
    for (const std::string& number : files.List(folder + "/ports")) {
      device.ports.push_back(ProbePort(files, folder, number));
    }
    devices.push_back(device);
  }
  return devices;
}

std::vector<Gpu> ProbeGpus(const SystemFiles& files) {
  std::vector<Gpu> gpus;
  for (const std::string& pci : files.List(kPci)) {
    const std::string folder = kPci + pci;
    if (files.ReadOr(folder + "/vendor", "") != kNvidiaVendor) continue;
    if (files.ReadOr(folder + "/class", "").rfind(kDisplayClass, 0) != 0) continue;
    Gpu gpu;
    gpu.pci = pci;
    gpu.model = ModelOf(files, pci);
    if (gpu.model.empty()) gpu.model = "NVIDIA " + files.ReadOr(folder + "/device", "GPU");
    gpu.driver = files.LinkName(folder + "/driver");
    gpu.place = PlaceOf(files, folder);
    gpus.push_back(gpu);
  }
  return gpus;
}

GpuDriver ProbeGpuDriver(const SystemFiles& files) {
  GpuDriver driver;
  const std::string text = files.ReadOr(kNvidia + std::string("version"), "");
  std::smatch found;
  if (std::regex_search(text, found, std::regex("NVRM version:[^\\n]*?\\s(\\d+\\.[\\d.]+)"))) {
    driver.version = found[1];
  }
  driver.is_open = text.find("Open Kernel Module") != std::string::npos;
  const std::string settings = files.ReadOr(kNvidia + std::string("params"), "");
  const std::regex override_on("RegistryDwords:[^\\n]*\\bPeerMappingOverride=(1|0x1)\\b");
  driver.may_map_registers = std::regex_search(settings, override_on);
  return driver;
}

}  // namespace ringpost::tools
