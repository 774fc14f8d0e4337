// memory_access.h: memory that the device reaches: keys and umems over a MemoryProvider's
// allocations, and pages of rdma-core that kernels reach.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "backends/mlx5/device.h"
#include "transport/memory.h"

namespace ringpost::mlx5 {

// An allocation that ends with its owner.
class OwnedMemory {
 public:
  OwnedMemory() = default;
  OwnedMemory(MemoryProvider& provider, const Allocation& memory)
      : provider_(&provider), memory_(memory) {}
  OwnedMemory(OwnedMemory&& other) noexcept
      : provider_(std::exchange(other.provider_, nullptr)), memory_(other.memory_) {}
  OwnedMemory& operator=(OwnedMemory&& other) noexcept {
    std::swap(provider_, other.provider_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~OwnedMemory() {
    if (provider_ != nullptr) provider_->Free(memory_);
  }
  const Allocation& Where() const { return memory_; }

 private:
  MemoryProvider* provider_ = nullptr;
  Allocation memory_;
};

using Warn = std::function<void(const std::string& line)>;

// Any thread may call anything.
class MemoryAccess {
 public:
  // All three outlive it.
  MemoryAccess(const Device& device, MemoryProvider& provider, Warn warn)
      : device_(device), provider_(provider), warn_(std::move(warn)) {}
  MemoryAccess(const MemoryAccess&) = delete;
  MemoryAccess& operator=(const MemoryAccess&) = delete;
  ~MemoryAccess();

  Result<OwnedMemory> Allocate(Placement placement, uint64_t bytes);
  // One line about each thing in the life of a NIC.
  void WarnOnce(const std::string& about, const std::string& line);

  // Between host memory and allocations.
  Result<bool> Copy(uint64_t to, uint64_t from, uint64_t bytes) {
    return provider_.Copy(to, from, bytes);
  }
  // For all accesses. GPU memory goes by its dma-buf, else (with one warning) by its address, which
  // needs nvidia-peermem; where both fail, both reasons are named.
  Result<Mr> Register(const Allocation& memory);
  // The same for memory that queues lie in.
  Result<Umem> RegisterUmem(const Allocation& memory);

  // Where kernels reach host pages that rdma-core made. Pages stay mapped until this object ends.
  Result<uint64_t> MapPages(const void* begin, uint64_t bytes);
  // A register of the device: as I/O memory, else as ordinary memory.
  Result<uint64_t> MapRegister(const void* address);

 private:
  template <class T>
  Result<T> ByEitherWay(const Allocation& memory, const std::function<T(const DmaBuf&)>& by_dma_buf,
                        const std::function<T()>& by_address, const char* calls[2]);
  Result<uint64_t> MapAs(const void* begin, uint64_t bytes, Mapping mapping);

  const Device& device_;
  MemoryProvider& provider_;
  const Warn warn_;
  std::mutex mutex_;
  std::set<std::string> warned_;
  struct Mapped {
    uint64_t bytes = 0;
    uint64_t address = 0;
  };
  std::map<uint64_t, Mapped> mapped_;  // by first page
};

}  // namespace ringpost::mlx5
