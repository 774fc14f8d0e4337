// memory.h: MemoryProvider, where rings, payload and doorbell pages come from.
//
// An allocation has one address that kernels and, where the placement is kHost, host threads use
// alike. It is page-aligned and zero. The provider owns what it gave out and frees what is left
// when it ends; all functions may be called by any thread, and none by a kernel. A function that
// fails returns nothing, changes nothing and says in `*error` why.
//
//   std::string error;
//   std::optional<Allocation> ring = provider.Allocate(Placement::kGpu, 64 * depth, &error);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "transport/qp_view.h"

namespace ringpost {

struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  Placement placement = Placement::kHost;
};

// What kind of host pages are mapped for the device: RAM, or registers of another device (a UAR).
enum class Mapping : uint8_t { kMemory, kRegisters };

class MemoryProvider {
 public:
  MemoryProvider() = default;
  MemoryProvider(const MemoryProvider&) = delete;
  MemoryProvider& operator=(const MemoryProvider&) = delete;
  virtual ~MemoryProvider() = default;

  [[nodiscard]] virtual std::optional<Allocation> Allocate(Placement placement, uint64_t bytes,
                                                           std::string* error) = 0;

  // No kernel, NIC or copy may still use it.
  virtual void Free(const Allocation& allocation) = 0;

  // The address under which kernels reach existing host pages, until Unmap. The pages stay with the
  // caller.
  [[nodiscard]] virtual std::optional<uint64_t> Map(void* pages, uint64_t bytes, Mapping mapping,
                                                    std::string* error) = 0;
  virtual void Unmap(void* pages) = 0;

  // A dma-buf of GPU memory, through which a NIC's driver reaches it. The caller closes it.
  [[nodiscard]] virtual std::optional<int> ExportDmaBuf(const Allocation& allocation,
                                                        std::string* error) = 0;

  // Between any two of: host memory, allocations. Returns when the bytes are there.
  [[nodiscard]] virtual bool Copy(uint64_t to, uint64_t from, uint64_t bytes,
                                  std::string* error) = 0;
};

}  // namespace ringpost
