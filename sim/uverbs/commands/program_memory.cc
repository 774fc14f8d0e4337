#include "sim/uverbs/commands/program_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "sim/uverbs/gpu/cuda_driver.h"
#include "sim/uverbs/gpu/dma_bufs.h"
#include "sim/uverbs/real_calls.h"

namespace ringpost::sim::uverbs {

bool IsMemory(uint64_t address, uint64_t bytes, service::Use use) {
  return gpu::FindGpu(address, bytes) || service::MakePresent(address, bytes, use);
}

int FindDmaBufMemory(int file, prm::Devx::Memory* memory) {
  if (fcntl(file, F_GETFD) < 0) return EBADF;
  if (const auto known = gpu::FindDmaBuf(file)) {
    *memory = std::make_shared<prm::MemoryRange>(prm::MemoryRange{known->address, known->bytes});
    return gpu::FindGpu(known->address, known->bytes) ? 0 : EFAULT;
  }
  char target[64] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  if (readlink(link.c_str(), target, sizeof(target) - 1) < 0) return EBADF;
  if (std::strncmp(target, "/dmabuf:", 8) != 0) return EINVAL;
  const off_t bytes = lseek(file, 0, SEEK_END);
  if (bytes <= 0) return EINVAL;
  const auto size = static_cast<size_t>(bytes);
  void* mapping = real::Map(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapping == MAP_FAILED) return EOPNOTSUPP;
  const auto unmap = [](const prm::MemoryRange* range) {
    munmap(reinterpret_cast<void*>(range->address), range->bytes);
    delete range;
  };
  *memory = prm::Devx::Memory(
      new prm::MemoryRange{reinterpret_cast<uint64_t>(mapping), static_cast<uint64_t>(bytes)},
      unmap);
  return 0;
}

}  // namespace ringpost::sim::uverbs
