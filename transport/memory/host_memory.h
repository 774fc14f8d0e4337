// host_memory.h: a MemoryProvider of ordinary host memory, for programs whose "kernels" are host
// threads. It refuses GPU placement, and has no dma-bufs.
#pragma once

#include <map>
#include <mutex>

#include "transport/memory.h"

namespace ringpost {

class HostMemory final : public MemoryProvider {
 public:
  ~HostMemory() override;

  std::optional<Allocation> Allocate(Placement placement, uint64_t bytes,
                                     std::string* error) override;
  void Free(const Allocation& allocation) override;
  std::optional<uint64_t> Map(void* pages, uint64_t bytes, Mapping mapping,
                              std::string* error) override;
  void Unmap(void* pages) override;
  std::optional<int> ExportDmaBuf(const Allocation& allocation, std::string* error) override;
  bool Copy(uint64_t to, uint64_t from, uint64_t bytes, std::string* error) override;

 private:
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> bytes_of_;  // by address
};

}  // namespace ringpost
