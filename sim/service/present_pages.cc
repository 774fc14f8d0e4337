#include "sim/service/present_pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ringpost::sim::service {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kSignalSetBytes = 8;

// The kernel looks at the mask before it refuses what is to be done with it.
bool IsReadable(uint64_t page) {
  constexpr int kNoSuchChange = -1;
  syscall(SYS_rt_sigprocmask, kNoSuchChange, page, nullptr, kSignalSetBytes);
  return errno != EFAULT;
}

}  // namespace

bool MakePresent(uint64_t address, uint64_t bytes, Use use) {
  if (bytes == 0 || address + bytes < address) return false;
  const uint64_t begin = address & ~(kPage - 1);
  const uint64_t end = (address + bytes + kPage - 1) & ~(kPage - 1);
  if (end <= begin) return false;
  void* pages = reinterpret_cast<void*>(begin);
  const int advice = use == Use::kWrite ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (madvise(pages, end - begin, advice) == 0) return true;
  if (errno != EINVAL) return false;
  // Of pages that may be read alone, of a device's mapping, and of each by kernels before 5.14.
  if (use == Use::kWrite && madvise(pages, end - begin, MADV_POPULATE_READ) == 0) return false;
  for (uint64_t page = begin; page < end; page += kPage) {
    if (!IsReadable(page)) return false;
  }
  return true;
}

}  // namespace ringpost::sim::service
