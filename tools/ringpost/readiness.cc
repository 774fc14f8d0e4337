#include "tools/ringpost/readiness.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/schema/schema.h"

namespace ringpost::tools {
namespace {

constexpr char kMlx5Driver[] = "mlx5_core";
// The largest message of a NIC: registered memory is locked.
constexpr uint64_t kEnoughLockable = 1ull << 30;

// Whether this version has the backend, whatever the machine has.
bool IsBuiltIn(const std::string& backend) {
  for (const auto& key : config::Keys()) {
    if (key.info.path != "backend") continue;
    const std::vector<std::string>& words = key.info.words;
    return std::find(words.begin(), words.end(), backend) != words.end();
  }
  return false;
}

std::vector<const RdmaDevice*> ConnectXs(const Machine& machine) {
  std::vector<const RdmaDevice*> devices;
  for (const RdmaDevice& device : machine.rdma) {
    if (device.driver == kMlx5Driver) devices.push_back(&device);
  }
  return devices;
}

std::string NetdevOf(const RdmaPort& port) {
  for (const RdmaGid& gid : port.gids) {
    if (!gid.netdev.empty()) return gid.netdev;
  }
  return "DEVICE";
}

void JudgePorts(const std::vector<const RdmaDevice*>& devices, std::vector<Lack>& lacks) {
  std::vector<Lack> of_ports;
  for (const RdmaDevice* device : devices) {
    for (const RdmaPort& port : device->ports) {
      const std::string name = fmt::format("{} port {}", device->name, port.number);
      const bool ethernet = port.link_layer == "Ethernet";
      const bool has_gid = std::any_of(port.gids.begin(), port.gids.end(), [&](const RdmaGid& gid) {
        return !ethernet || gid.type == "RoCE v2";
      });
      if (!port.IsActive()) {
        of_ports.push_back({name + " is " + port.state,
                            ethernet ? "ip link set " + NetdevOf(port) + " up"
                                     : "connect it, and start a subnet manager (opensm)"});
      } else if (!has_gid) {
        of_ports.push_back(
            {name + " has no GID of RoCE v2", "ip addr add ADDRESS/24 dev " + NetdevOf(port)});
      } else {
        return;  // one that works is enough
      }
    }
  }
  lacks.insert(lacks.end(), of_ports.begin(), of_ports.end());
}

void JudgeVerbsFiles(const std::vector<const RdmaDevice*>& devices, std::vector<Lack>& lacks) {
  if (std::any_of(devices.begin(), devices.end(),
                  [](const RdmaDevice* device) { return device->may_open; })) {
    return;
  }
  for (const RdmaDevice* device : devices) {
    if (device->verbs_file.empty()) {
      lacks.push_back({device->name + " has no file in /dev/infiniband", "modprobe ib_uverbs"});
    } else {
      lacks.push_back({device->verbs_file + " may not be opened",
                       "chmod a+rw " + device->verbs_file + ", or join its group"});
    }
  }
}

Readiness JudgeLive(const Machine& machine) {
  Readiness live{"live", {}};
  if (!machine.host.has_shared_memory) {
    live.lacks.push_back({"/dev/shm may not be written, where processes exchange packets",
                          "mount -t tmpfs -o mode=1777 tmpfs /dev/shm"});
  }
  return live;
}

Readiness JudgeMlx5(const Machine& machine) {
  Readiness mlx5{"mlx5", {}};
  std::vector<Lack>& lacks = mlx5.lacks;
  if (!IsBuiltIn("mlx5")) {
    lacks.push_back({"this version has no such backend", "see docs/hardware.md"});
  }
  const std::vector<const RdmaDevice*> devices = ConnectXs(machine);
  if (devices.empty()) {
    lacks.push_back({"there is no RDMA device of a ConnectX", "modprobe mlx5_ib"});
  }
  JudgeVerbsFiles(devices, lacks);
  JudgePorts(devices, lacks);
  const auto& lockable = machine.host.lockable_bytes;
  if (lockable && *lockable < kEnoughLockable) {
    lacks.push_back({fmt::format("only {} KiB of memory may be locked", *lockable >> 10),
                     "ulimit -l unlimited"});
  }
  return mlx5;
}

}  // namespace

Machine ProbeMachine(const SystemFiles& files) {
  return {ProbeHost(files), ProbeRdma(files), ProbeGpus(files), ProbeGpuDriver(files)};
}

std::vector<Readiness> JudgeBackends(const Machine& machine) {
  return {{"sim", {}}, JudgeLive(machine), JudgeMlx5(machine)};
}

std::vector<Lack> JudgeGpuPath(const Machine& machine) {
  std::vector<Lack> lacks;
  const GpuDriver& driver = machine.gpu_driver;
  if (machine.gpus.empty()) {
    lacks.push_back({"there is no GPU of NVIDIA", "install one that docs/hardware.md names"});
    return lacks;
  }
  if (driver.version.empty()) {
    lacks.push_back({"NVIDIA's driver is not loaded", "modprobe nvidia"});
    return lacks;
  }
  const bool dma_buf = driver.is_open && machine.host.has_dma_buf.value_or(true);
  if (!machine.host.Has("nvidia_peermem") && !dma_buf) {
    lacks.push_back(
        {"the NIC cannot reach GPU memory: no nvidia_peermem, and no dma-buf (open "
         "kernel module, CONFIG_PCI_P2PDMA, CONFIG_DMABUF_MOVE_NOTIFY)",
         "modprobe nvidia_peermem"});
  }
  if (!driver.may_map_registers) {
    lacks.push_back(
        {"the driver may refuse to map a NIC's doorbell page for the GPU",
         "echo 'options nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\"' "
         "> /etc/modprobe.d/nvidia-peer-mapping.conf, update-initramfs -u, and reboot"});
  }
  return lacks;
}

std::vector<Lack> JudgeAffinity(const Machine& machine) {
  std::vector<Lack> lacks;
  const std::vector<int> allowed = CpusOf(machine.host.cpus_allowed);
  if (allowed.size() == 1) {
    lacks.push_back({"one CPU: a live NIC's thread and yours take turns",
                     "set live.poll: sleep, or allow more (taskset)"});
  }
  const std::vector<const RdmaDevice*> devices = ConnectXs(machine);
  for (const RdmaDevice* device : devices) {
    const std::vector<int> near = CpusOf(device->place.cpus);
    const bool any = std::any_of(allowed.begin(), allowed.end(), [&](int cpu) {
      return std::find(near.begin(), near.end(), cpu) != near.end();
    });
    if (near.empty() || allowed.empty() || any) continue;
    lacks.push_back({fmt::format("none of the allowed CPUs is near {}", device->name),
                     fmt::format("taskset -c {} ringpost ...", device->place.cpus)});
  }
  for (const Gpu& gpu : machine.gpus) {
    const bool any = std::any_of(devices.begin(), devices.end(), [&](const RdmaDevice* device) {
      return device->place.numa_node == gpu.place.numa_node;
    });
    if (any || devices.empty()) continue;
    lacks.push_back(
        {fmt::format("GPU {} is on NUMA node {}, and no ConnectX is", gpu.pci, gpu.place.numa_node),
         "use another GPU for what must be fast"});
  }
  return lacks;
}

}  // namespace ringpost::tools
