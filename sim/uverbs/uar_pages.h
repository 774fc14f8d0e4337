// uar_pages.h: the UAR pages of one NIC in this process: memory that a program maps and rings, and
// that the NIC's thread polls through a mapping of its own, so that unmapping cannot hurt it. And
// the page of the clock.
//
// All of it is one memory file, at the offsets that a program gives to mmap, and a program's
// descriptors of the device are descriptors of that file. So an mmap that goes past this library,
// as UCX's does, maps the same pages.
//
// Any thread may call anything.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace ringpost::sim::uverbs {

class UarPages {
 public:
  static constexpr uint64_t kBytes = 4096;
  // What programs give to mmap: beyond the commands that mlx5 encodes in small offsets.
  static constexpr uint64_t OffsetOf(uint32_t page) { return (kFirst + page) * kBytes; }

  // Null, with errno, where the system gives no memory file.
  static std::shared_ptr<UarPages> Make();
  UarPages(const UarPages&) = delete;
  UarPages& operator=(const UarPages&) = delete;
  ~UarPages();

  // A descriptor of the file, with flags of open(). -1, and errno.
  int Open(int flags) const;
  // A number from 1 on, or 0 where the system has no memory.
  uint32_t Allocate();
  void Free(uint32_t page);
  // Where the NIC polls it; 0 if there is no such page.
  uint64_t AddressOf(uint32_t page) const;
  // A program's mmap of a UAR page or of the clock. MAP_FAILED, and errno.
  void* Map(void* address, size_t size, int protection, int flags, off_t offset) const;

 private:
  static constexpr uint64_t kFirst = 0x10000;
  struct Page {
    void* memory = nullptr;
    bool used = false;
  };
  UarPages() = default;
  bool Create();

  int file_ = -1;
  mutable std::mutex mutex_;
  std::map<uint32_t, Page> pages_;  // guarded by mutex_, as are the rest
  std::vector<uint32_t> free_;
  uint32_t next_ = 1;
};

}  // namespace ringpost::sim::uverbs
