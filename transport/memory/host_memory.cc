#include "transport/memory/host_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace ringpost {

HostMemory::~HostMemory() {
  for (const auto& [address, bytes] : bytes_of_) munmap(reinterpret_cast<void*>(address), bytes);
}

Result<Allocation> HostMemory::Allocate(Placement placement, uint64_t bytes) {
  if (placement != Placement::kHost) {
    return Error{"there is no GPU memory here; allocate in host memory"};
  }
  if (bytes == 0) return Error{"an allocation has at least one byte"};
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{std::to_string(bytes) + " bytes of host memory: " + std::strerror(errno)};
  }
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  const std::lock_guard<std::mutex> lock(mutex_);
  bytes_of_.emplace(address, bytes);
  return Allocation{address, bytes, placement};
}

void HostMemory::Free(const Allocation& allocation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = bytes_of_.find(allocation.address);
  if (found == bytes_of_.end()) return;
  munmap(reinterpret_cast<void*>(found->first), found->second);
  bytes_of_.erase(found);
}

// A host thread uses the pages where they are.
Result<uint64_t> HostMemory::Map(void* pages, uint64_t, Mapping) {
  return reinterpret_cast<uint64_t>(pages);
}

void HostMemory::Unmap(void*) {}

Result<DmaBuf> HostMemory::ExportDmaBuf(const Allocation&) {
  return Error{"host memory has no dma-buf; register it by its address"};
}

Result<bool> HostMemory::Copy(uint64_t to, uint64_t from, uint64_t bytes) {
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return true;
}

}  // namespace ringpost
