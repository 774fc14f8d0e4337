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

  Result<Allocation> Allocate(Placement placement, uint64_t bytes) override;
  void Free(const Allocation& allocation) override;
  Result<uint64_t> Map(void* pages, uint64_t bytes, Mapping mapping) override;
  void Unmap(void* pages) override;
  Result<DmaBuf> ExportDmaBuf(const Allocation& allocation) override;
  Result<bool> Copy(uint64_t to, uint64_t from, uint64_t bytes) override;

 private:
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> bytes_of_;  // by address
};

}  // namespace ringpost
