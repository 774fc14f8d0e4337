// probe_host.h: kernel, processors, limits and modules of this machine, as this process has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/ringpost/system_files.h"

namespace ringpost::tools {

struct Host {
  std::string kernel;
  std::string cpus_online;  // "0-15"
  std::string cpus_allowed;
  std::string numa_nodes;
  // Bytes that this process may lock; nothing: any number. Whoever has CAP_IPC_LOCK may.
  std::optional<uint64_t> lockable_bytes;
  std::string huge_pages;            // "0 of 2048 kB"
  std::vector<std::string> modules;  // of those that matter here, loaded or built in
  std::vector<std::string> absent_modules;
  bool has_shared_memory = false;  // /dev/shm, where NICs of processes meet
  // What dma-bufs of GPU memory need of the kernel; nothing: its configuration is not readable.
  std::optional<bool> has_dma_buf;

  bool Has(const std::string& module) const;
};

Host ProbeHost(const SystemFiles& files);

// "0-2,5" as 0, 1, 2, 5.
std::vector<int> CpusOf(const std::string& list);

}  // namespace ringpost::tools
