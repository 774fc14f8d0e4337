#include "sim/service/present_pages.h"

#include <sys/mman.h>

#include <cerrno>

namespace ringpost::sim::service {
namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

bool MakePresent(uint64_t address, uint64_t bytes, Use use) {
  const uint64_t begin = address & ~(kPage - 1);
  const uint64_t size = ((address + bytes + kPage - 1) & ~(kPage - 1)) - begin;
  void* pages = reinterpret_cast<void*>(begin);
  const int advice = use == Use::kWrite ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (madvise(pages, size, advice) == 0) return true;
  if (errno == ENOMEM || errno == EFAULT) return false;
  // Kernels before 5.14, and mappings of devices: there at least.
  return msync(pages, size, MS_ASYNC) == 0;
}

}  // namespace ringpost::sim::service
