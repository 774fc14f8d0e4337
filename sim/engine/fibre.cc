#include "sim/engine/fibre.h"

#include <sys/mman.h>

#include <cstring>

#include "sim/engine/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace ringpost::sim {
namespace {

constexpr uint64_t kCanary = 0x52696e67706f7374ull;
// Page-aligned tops would all map to the same cache sets; 13 lines apart they spread.
constexpr size_t kColour = 832;
constexpr size_t kPage = 4096;
constexpr size_t kHugeStacks = 256u << 20;
constexpr size_t kAboveFrames = 16;

}  // namespace

StackSlab::StackSlab(size_t count, size_t bytes, Entry entry)
    : entry_(entry), bytes_(bytes * kStackFactor), total_(count * bytes_) {
  void* map = mmap(nullptr, total_ == 0 ? kPage : total_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RINGPOST_CHECK(map != MAP_FAILED, "cannot reserve the address space of the stacks");
  base_ = static_cast<char*>(map);
  if (total_ >= (4u << 20) && total_ <= kHugeStacks) madvise(map, total_, MADV_HUGEPAGE);
}

StackSlab::~StackSlab() { munmap(base_, total_ == 0 ? kPage : total_); }

uint32_t StackSlab::Take() {
  uint32_t index = next_;
  if (free_.empty()) {
    ++next_;
  } else {
    index = free_.back();
    free_.pop_back();
  }
  RINGPOST_CHECK((size_t{index} + 1) * bytes_ <= total_, "more fibres than stacks");
#if defined(__SANITIZE_ADDRESS__)
  // The last fibre that ran here, or in an earlier slab at this address, never left its frames.
  __asan_unpoison_memory_region(Bottom(index), bytes_);
#endif
  std::memcpy(Bottom(index), &kCanary, sizeof(kCanary));
  return index;
}

char* StackSlab::Top(uint32_t index) const {
  return base_ + (size_t{index} + 1) * bytes_ - (size_t{index} * kColour) % kPage / 64 * 64;
}

void StackSlab::CheckCanary(uint32_t index) const {
  uint64_t word = 0;
  std::memcpy(&word, Bottom(index), sizeof(word));
  RINGPOST_CHECK(word == kCanary,
                 "a simulated thread has overflowed its stack; raise engine.stack_size");
}

void Fibre::First(Stopped*, Stopped* stopped) {
  Fibre* self = static_cast<Fibre*>(stopped);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self->caller_bottom_, &self->caller_size_);
#endif
  void* argument = nullptr;
  std::memcpy(&argument, self->slab_->Top(self->stack_) - kAboveFrames, sizeof(argument));
  self->slab_->entry_(argument);
  self->done_ = true;
  self->SwitchOut(true);
  __builtin_unreachable();
}

void Fibre::Start(StackSlab& slab, uint32_t index, void* argument) {
  slab_ = &slab;
  stack_ = index;
  done_ = false;
  const size_t size = static_cast<size_t>(slab.Top(index) - slab.Bottom(index));
  // Above its first frame is what it was given.
  char* top = slab.Top(index) - kAboveFrames;
  std::memcpy(top, &argument, sizeof(argument));
  Prepare<&Fibre::First>(*this, top, size - kAboveFrames);
#if defined(__SANITIZE_ADDRESS__)
  bottom_ = slab.Bottom(index);
  size_ = size;
#endif
#if defined(__SANITIZE_THREAD__)
  tsan_fibre_ = __tsan_create_fiber(0);
#endif
}

}  // namespace ringpost::sim
