#include "sim/uverbs/prm/memory_map.h"

#include <sys/mman.h>

#include <cerrno>

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

bool MakePresent(uint64_t address, uint64_t bytes, bool writable) {
  if (bytes == 0 || address + bytes < address) return false;
  const uint64_t begin = address & ~(kPage - 1);
  const uint64_t end = (address + bytes + kPage - 1) & ~(kPage - 1);
  if (end <= begin) return false;
  void* pages = reinterpret_cast<void*>(begin);
  const int advice = writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (madvise(pages, end - begin, advice) == 0) return true;
  if (errno == ENOMEM || errno == EFAULT) return false;
  // Of memory that may not be written, as of memory that knows no such advice, it is EINVAL.
  if (writable && madvise(pages, end - begin, MADV_POPULATE_READ) == 0) return false;
  // Kernels before 5.14, and mappings of devices: there at least.
  return msync(pages, end - begin, MS_ASYNC) == 0;
}

}  // namespace ringpost::sim::uverbs::prm
