// fake_memory.h: a MemoryProvider over the stand-in for CUDA's driver, which finds its functions as
// CUDA's runtime does: dlopen, dlsym of cuGetProcAddress, and all others by that.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "tests/uverbs/gpu/fake_gpu.h"
#include "transport/memory.h"

namespace ringpost::fake_gpu {

class FakeMemory final : public MemoryProvider {
 public:
  // Aborts where libcuda.so.1 is not the stand-in.
  FakeMemory();
  ~FakeMemory() override;

  Result<Allocation> Allocate(Placement placement, uint64_t bytes) override;
  void Free(const Allocation& allocation) override;
  Result<uint64_t> Map(void* pages, uint64_t bytes, Mapping mapping) override;
  void Unmap(void* pages) override;
  Result<DmaBuf> ExportDmaBuf(const Allocation& allocation) override;
  Result<bool> Copy(uint64_t to, uint64_t from, uint64_t bytes) override;

  const Range& Memory() const;
  Counters Count() const;
  // From here on it exports no dma-buf.
  void WithoutDmaBufs() { exports_ = false; }

 private:
  bool exports_ = true;
  std::mutex mutex_;
  std::map<uint64_t, Placement> placement_of_;  // by address
};

}  // namespace ringpost::fake_gpu
