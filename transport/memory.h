// memory.h: MemoryProvider, where rings, payload and doorbell pages come from.
//
// An allocation has one address that kernels and, where the placement is kHost, host threads use
// alike. It is page-aligned and zero. The provider owns what it gave out and frees what is left
// when it ends; all functions may be called by any thread, and none by a kernel. A function that
// fails changes nothing.
//
//   const Result<Allocation> ring = provider.Allocate(Placement::kGpu, 64 * depth);
//   if (!ring.Ok()) return Error{ring.Message()};
#pragma once

#include <cstdint>

#include "transport/qp_view.h"
#include "transport/result.h"

namespace ringpost {

struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  Placement placement = Placement::kHost;
};

// A dma-buf, and where in it the allocation begins: it is of whole pages of the host.
struct DmaBuf {
  int file = -1;
  uint64_t offset = 0;
};

// What kind of host pages are mapped for the device: RAM, or registers of another device (a UAR).
enum class Mapping : uint8_t { kMemory, kRegisters };

class MemoryProvider {
 public:
  MemoryProvider() = default;
  MemoryProvider(const MemoryProvider&) = delete;
  MemoryProvider& operator=(const MemoryProvider&) = delete;
  virtual ~MemoryProvider() = default;

  virtual Result<Allocation> Allocate(Placement placement, uint64_t bytes) = 0;

  // No kernel, NIC or copy may still use it.
  virtual void Free(const Allocation& allocation) = 0;

  // The address under which kernels reach existing host pages, until Unmap. The pages stay with the
  // caller.
  virtual Result<uint64_t> Map(void* pages, uint64_t bytes, Mapping mapping) = 0;
  virtual void Unmap(void* pages) = 0;

  // A dma-buf of GPU memory, through which a NIC's driver reaches it: of an allocation, or of a
  // part of one. The caller closes its file.
  virtual Result<DmaBuf> ExportDmaBuf(const Allocation& allocation) = 0;

  // Between any two of: host memory, allocations. Returns when the bytes are there.
  virtual Result<bool> Copy(uint64_t to, uint64_t from, uint64_t bytes) = 0;
};

}  // namespace ringpost
