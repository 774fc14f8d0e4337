#include "tools/ringpost/doctor_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "configs/schema/config_error.h"
#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/library_file.h"
#include "tools/ringpost/readiness.h"
#include "tools/ringpost/version.h"

namespace ringpost::tools {
namespace {

std::string Row(const std::string& name, const std::string& value) {
  return fmt::format("  {:<18} {}\n", name, value);
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text.empty() ? "none" : text;
}

std::string PlaceText(const Locality& place) {
  std::string text = place.numa_node < 0 ? "" : fmt::format(", NUMA node {}", place.numa_node);
  return place.cpus.empty() ? text : text + ", CPUs " + place.cpus;
}

std::string HostText(const Host& host) {
  std::string text = "machine\n" + Row("kernel", host.kernel);
  text += Row("CPUs", fmt::format("{} online, {} allowed; NUMA nodes {}", host.cpus_online,
                                  host.cpus_allowed, host.numa_nodes));
  text +=
      Row("lockable memory",
          host.lockable_bytes ? fmt::format("{} KiB", *host.lockable_bytes >> 10) : "unlimited");
  text += Row("huge pages", host.huge_pages.empty() ? "unknown" : host.huge_pages);
  text += Row("modules", Joined(host.modules));
  text += Row("not loaded", Joined(host.absent_modules));
  return text;
}

std::string RdmaText(const std::vector<RdmaDevice>& devices) {
  std::string text = "RDMA devices\n";
  for (const RdmaDevice& device : devices) {
    const std::string driver = device.driver.empty() ? "software" : "driver " + device.driver;
    const std::string firmware = device.firmware.empty() ? "" : ", firmware " + device.firmware;
    const std::string file = device.verbs_file.empty() ? "no file" : device.verbs_file;
    text += Row(device.name, fmt::format("{}{}{}, {}{}", driver, firmware, PlaceText(device.place),
                                         file, device.may_open ? "" : " (may not be opened)"));
    for (const RdmaPort& port : device.ports) {
      text += Row("  port " + port.number,
                  fmt::format("{}, {}, {}", port.state, port.link_layer, port.rate));
      for (const RdmaGid& gid : port.gids) {
        text +=
            Row("    GID " + gid.index, fmt::format("{}, {}{}", gid.gid, gid.type,
                                                    gid.netdev.empty() ? "" : ", " + gid.netdev));
      }
    }
  }
  return devices.empty() ? text + "  none\n" : text;
}

std::string GpuText(const Machine& machine) {
  std::string text = "GPUs\n";
  for (const Gpu& gpu : machine.gpus) {
    const std::string driver = gpu.driver.empty() ? "no driver" : "driver " + gpu.driver;
    text += Row(gpu.pci, fmt::format("{}, {}{}", gpu.model, driver, PlaceText(gpu.place)));
  }
  if (machine.gpus.empty()) text += "  none\n";
  const GpuDriver& driver = machine.gpu_driver;
  if (driver.version.empty()) return text;
  text += Row("NVIDIA driver",
              fmt::format("{}, {} kernel module, PeerMappingOverride {}", driver.version,
                          driver.is_open ? "open" : "closed", driver.may_map_registers ? 1 : 0));
  const auto& dma_buf = machine.host.has_dma_buf;
  text += Row("NIC to GPU memory", fmt::format("nvidia_peermem {}, dma-buf in the kernel {}",
                                               machine.host.Has("nvidia_peermem") ? "yes" : "no",
                                               !dma_buf   ? "unknown"
                                               : *dma_buf ? "yes"
                                                          : "no"));
  return text;
}

std::string LacksText(const std::string& name, const char* verdict,
                      const std::vector<Lack>& lacks) {
  if (lacks.empty()) return Row(name, "ready");
  std::string text;
  for (const Lack& lack : lacks) {
    text += Row(name, fmt::format("{}{}; remedy: {}", verdict, lack.what, lack.remedy));
  }
  return text;
}

std::string VirtualText() {
  const auto found = [](const char* library) {
    return FindLibrary("sim/uverbs", library).empty() ? "not beside the program: " : "";
  };
  std::string text = "virtual ConnectX, for programs of `ringpost exec`\n";
  text += Row("devices",
              fmt::format("{}preloaded: libringpost_uverbs.so", found("libringpost_uverbs.so")));
  text += Row("GPU doorbells",
              fmt::format("{}with exec.gpu_doorbells, libringpost_io_memory.so too: CUDA gets a "
                          "device's register as ordinary memory where a program says I/O memory",
                          found("libringpost_io_memory.so")));
  return text;
}

}  // namespace

int RunDoctorCommand(const DoctorArguments& arguments, std::ostream& out) {
  const Machine machine = ProbeMachine(SystemFiles(arguments.root));
  const std::vector<Readiness> backends = JudgeBackends(machine);
  const auto asked = std::find_if(backends.begin(), backends.end(), [&](const Readiness& backend) {
    return backend.backend == arguments.backend;
  });
  if (!arguments.backend.empty() && asked == backends.end()) {
    throw config::ConfigError(
        {"--backend", 1, 1}, "doctor",
        {"'" + arguments.backend + "' is no backend", "give sim, live or mlx5"});
  }
  out << "ringpost " << kVersion << " | doctor\n"
      << HostText(machine.host) << RdmaText(machine.rdma) << GpuText(machine) << "backends\n";
  for (const Readiness& backend : backends) {
    out << LacksText(backend.backend, "not ready: ", backend.lacks);
  }
  out << LacksText("GPU posts itself", "not ready: ", JudgeGpuPath(machine));
  const std::vector<Lack> affinity = JudgeAffinity(machine);
  if (!affinity.empty()) out << LacksText("affinity", "", affinity);
  out << VirtualText();
  return asked != backends.end() && !asked->lacks.empty() ? kFailed : kClean;
}

}  // namespace ringpost::tools
