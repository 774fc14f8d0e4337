#include "sim/uverbs/uar_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/uverbs/real_calls.h"

namespace ringpost::sim::uverbs {
namespace {

// PRM "UAR Page Format": page numbers have 24 bits.
constexpr uint32_t kMostPages = 1 << 16;

}  // namespace

std::unique_ptr<UarPages> UarPages::Make() {
  std::unique_ptr<UarPages> pages(new UarPages());
  pages->file_ = memfd_create("uar", MFD_CLOEXEC);
  if (pages->file_ < 0) return nullptr;
  if (ftruncate(pages->file_, kMostPages * kBytes) != 0) return nullptr;
  return pages;
}

UarPages::~UarPages() {
  for (const auto& [number, page] : pages_) munmap(page.memory, kBytes);
  if (file_ >= 0) real::Close(file_);
}

uint32_t UarPages::Allocate() {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint32_t number = next_;
  void* page = nullptr;
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
    page = pages_[number].memory;
  } else {
    if (next_ == kMostPages) return 0;
    page = real::Map(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                     static_cast<off_t>(number * kBytes));
    if (page == MAP_FAILED) return 0;
    ++next_;
  }
  // No doorbell: service::DoorbellPages::kNoDoorbell.
  std::memset(page, 0xff, kBytes);
  pages_[number] = {page, true};
  return number;
}

// It stays mapped: QPs and CQs that a program left behind still ring there, and are polled.
void UarPages::Free(uint32_t page) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pages_.find(page);
  if (found == pages_.end() || !found->second.used) return;
  found->second.used = false;
  free_.push_back(page);
}

uint64_t UarPages::AddressOf(uint32_t page) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pages_.find(page);
  if (found == pages_.end() || !found->second.used) return 0;
  return reinterpret_cast<uint64_t>(found->second.memory);
}

void* UarPages::Map(void* address, size_t size, int protection, int flags, off_t offset) const {
  const uint64_t page = static_cast<uint64_t>(offset) / kBytes;
  if (size != kBytes || page < kFirst || AddressOf(static_cast<uint32_t>(page - kFirst)) == 0) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  return real::Map(address, size, protection, (flags & ~MAP_PRIVATE) | MAP_SHARED, file_,
                   static_cast<off_t>((page - kFirst) * kBytes));
}

}  // namespace ringpost::sim::uverbs
