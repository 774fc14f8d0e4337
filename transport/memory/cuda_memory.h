// cuda_memory.h: a MemoryProvider of one CUDA device: its own memory, and pinned host memory.
//
// Free of CUDA's headers, so that any source may include it; the library exists where the CUDA
// Toolkit does. Each call makes the device current in the calling thread.
#pragma once

#include <map>
#include <mutex>

#include "transport/memory.h"

namespace ringpost {

class CudaMemory final : public MemoryProvider {
 public:
  explicit CudaMemory(int device) : device_(device) {}
  ~CudaMemory() override;

  Result<Allocation> Allocate(Placement placement, uint64_t bytes) override;
  void Free(const Allocation& allocation) override;
  Result<uint64_t> Map(void* pages, uint64_t bytes, Mapping mapping) override;
  void Unmap(void* pages) override;
  Result<DmaBuf> ExportDmaBuf(const Allocation& allocation) override;
  Result<bool> Copy(uint64_t to, uint64_t from, uint64_t bytes) override;

 private:
  const int device_;
  std::mutex mutex_;
  // What CUDA gave, by the address that was passed on.
  struct Taken {
    uint64_t memory = 0;
    Placement placement = Placement::kHost;
  };
  std::map<uint64_t, Taken> taken_;
};

}  // namespace ringpost
