#include "tools/ringpost/huge_heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace ringpost::tools {
namespace {

constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
constexpr int kStep = 256 << 20;  // more than 32,768 QPs with their threads take

}  // namespace

void UseHugePagesForHeap() {
  const auto before = reinterpret_cast<uintptr_t>(sbrk(0));
  mallopt(M_TOP_PAD, kStep);
  mallopt(M_TRIM_THRESHOLD, 2 * kStep);
  // What is larger than the heap has room for makes it grow.
  constexpr size_t kTooLarge = 4u << 20;
  mallopt(M_MMAP_THRESHOLD, 2 * kTooLarge);
  void* volatile block = std::malloc(kTooLarge);  // volatile, or the pair is optimised away
  std::free(block);
  const auto after = reinterpret_cast<uintptr_t>(sbrk(0));
  const uintptr_t begin = (before + kHugePage - 1) / kHugePage * kHugePage;
  if (after <= begin) return;
  madvise(reinterpret_cast<void*>(begin), after - begin, MADV_HUGEPAGE);
}

}  // namespace ringpost::tools
