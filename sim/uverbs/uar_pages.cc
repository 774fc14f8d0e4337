#include "sim/uverbs/uar_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "sim/uverbs/clock_page.h"
#include "sim/uverbs/real_calls.h"
#include "sim/uverbs/uar_file.h"

namespace ringpost::sim::uverbs {
namespace {

// PRM "UAR Page Format": page numbers have 24 bits.
constexpr uint32_t kMostPages = 1 << 16;

}  // namespace

std::shared_ptr<UarPages> UarPages::Make() {
  std::shared_ptr<UarPages> pages(new UarPages());
  return pages->Create() ? pages : nullptr;
}

bool UarPages::Create() {
  file_ = memfd_create(kUarFile, MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(OffsetOf(kMostPages))) != 0) return false;
  void* clock =
      real::Map(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, ClockPageOffset());
  if (clock == MAP_FAILED) return false;
  WriteClockPage(clock);
  return munmap(clock, kBytes) == 0;
}

int UarPages::Open(int flags) const {
  return real::Open(("/proc/self/fd/" + std::to_string(file_)).c_str(), flags);
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
                     static_cast<off_t>(OffsetOf(number)));
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
  const bool clock = offset == ClockPageOffset() && (protection & PROT_WRITE) == 0;
  const bool uar = page >= kFirst && AddressOf(static_cast<uint32_t>(page - kFirst)) != 0;
  if (size != kBytes || (!clock && !uar)) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  return real::Map(address, size, protection, (flags & ~MAP_PRIVATE) | MAP_SHARED, file_, offset);
}

}  // namespace ringpost::sim::uverbs
