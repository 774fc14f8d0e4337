// probe_devices.h: RDMA devices and GPUs, as sysfs and the NVIDIA driver's files list them.
#pragma once

#include <string>
#include <vector>

#include "tools/ringpost/system_files.h"

namespace ringpost::tools {

struct RdmaGid {
  std::string index;
  std::string gid;
  std::string type;    // "IB/RoCE v1", "RoCE v2"
  std::string netdev;  // empty on InfiniBand
};

struct RdmaPort {
  std::string number;
  std::string state;       // "ACTIVE"
  std::string link_layer;  // "InfiniBand", "Ethernet"
  std::string rate;
  std::vector<RdmaGid> gids;  // those that are set

  bool IsActive() const { return state == "ACTIVE"; }
};

// Where a device is attached: node -1 is none.
struct Locality {
  int numa_node = -1;
  std::string cpus;  // near it
};

struct RdmaDevice {
  std::string name;
  std::string driver;  // "mlx5_core"; empty for one that is no device of a bus, as rxe's
  std::string firmware;
  Locality place;
  std::string verbs_file;  // "/dev/infiniband/uverbs0"; empty: ib_uverbs has none for it
  bool may_open = false;
  std::vector<RdmaPort> ports;
};

struct Gpu {
  std::string pci;    // "0000:19:00.0"
  std::string model;  // as the driver calls it, or the PCI device number
  std::string driver;
  Locality place;
};

struct GpuDriver {
  std::string version;             // empty: there is none
  bool is_open = false;            // NVIDIA's open kernel module, which exports dma-bufs
  bool may_map_registers = false;  // PeerMappingOverride=1: also pages of other devices
};

std::vector<RdmaDevice> ProbeRdma(const SystemFiles& files);
std::vector<Gpu> ProbeGpus(const SystemFiles& files);
GpuDriver ProbeGpuDriver(const SystemFiles& files);

}  // namespace ringpost::tools
