#include "tools/ringpost/probe_host.h"

#include <algorithm>
#include <sstream>

namespace ringpost::tools {
namespace {

constexpr const char* kModules[] = {"ib_core",  "ib_uverbs", "mlx5_core",     "mlx5_ib",
                                    "rdma_rxe", "nvidia",    "nvidia_peermem"};
constexpr int kCapIpcLock = 14;  // of <linux/capability.h>
constexpr int kMaxCpus = 1 << 20;

// What follows `key` on its line of a file of /proc.
std::string Field(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t first = line.find_first_not_of(" \t", key.size());
    return first == std::string::npos ? "" : line.substr(first);
  }
  return {};
}

std::optional<uint64_t> Lockable(const SystemFiles& files) {
  const std::string capabilities = Field(files.ReadOr("/proc/self/status", ""), "CapEff:");
  uint64_t effective = 0;
  std::istringstream(capabilities) >> std::hex >> effective;
  if ((effective >> kCapIpcLock & 1) != 0) return std::nullopt;
  const std::string limit = Field(files.ReadOr("/proc/self/limits", ""), "Max locked memory");
  uint64_t bytes = 0;
  if (limit.empty() || !(std::istringstream(limit) >> bytes)) return std::nullopt;
  return bytes;
}

std::optional<bool> HasDmaBuf(const SystemFiles& files, const std::string& kernel) {
  const std::optional<std::string> config = files.Read("/boot/config-" + kernel);
  if (!config) return std::nullopt;
  return Field(*config, "CONFIG_PCI_P2PDMA=") == "y" &&
         Field(*config, "CONFIG_DMABUF_MOVE_NOTIFY=") == "y";
}

}  // namespace

bool Host::Has(const std::string& module) const {
  return std::find(modules.begin(), modules.end(), module) != modules.end();
}

Host ProbeHost(const SystemFiles& files) {
  Host host;
  host.kernel = files.ReadOr("/proc/sys/kernel/osrelease", "unknown");
  host.cpus_online = files.ReadOr("/sys/devices/system/cpu/online", "unknown");
  host.numa_nodes = files.ReadOr("/sys/devices/system/node/online", "0");
  const std::string status = files.ReadOr("/proc/self/status", "");
  host.cpus_allowed = Field(status, "Cpus_allowed_list:");
  host.lockable_bytes = Lockable(files);
  const std::string memory = files.ReadOr("/proc/meminfo", "");
  const std::string pages = Field(memory, "HugePages_Total:");
  if (!pages.empty()) host.huge_pages = pages + " of " + Field(memory, "Hugepagesize:");
  for (const char* name : kModules) {
    // There for a module that is loaded, and for one that is built in.
    const bool there = files.Exists(std::string("/sys/module/") + name);
    (there ? host.modules : host.absent_modules).push_back(name);
  }
  host.has_shared_memory = files.MayWrite("/dev/shm");
  host.has_dma_buf = HasDmaBuf(files, host.kernel);
  return host;
}

std::vector<int> CpusOf(const std::string& list) {
  std::vector<int> cpus;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    std::istringstream ends(range);
    int first = 0, last = 0;
    char dash = 0;
    if (!(ends >> first)) continue;
    last = ends >> dash >> last ? last : first;
    for (int cpu = first; cpu <= std::min(last, kMaxCpus); ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace ringpost::tools
