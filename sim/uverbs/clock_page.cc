#include "sim/uverbs/clock_page.h"

#include <rdma/mlx5-abi.h>
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "sim/uverbs/real_calls.h"

namespace ringpost::sim::uverbs {
namespace {

constexpr size_t kBytes = 4096;
constexpr int kCommandShift = 8;

template <class Clock>
uint64_t Now() {
  const auto time = Clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace

bool IsClockPage(off_t offset) {
  constexpr uint64_t kPage =
      (uint64_t{MLX5_IB_MMAP_CLOCK_INFO} << kCommandShift) | uint64_t{MLX5_IB_CLOCK_INFO_V1};
  return static_cast<uint64_t>(offset) == kPage * kBytes;
}

void* MapClockPage(void* address, size_t size, int protection) {
  if (size != kBytes || (protection & PROT_WRITE) != 0) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  void* page = real::Map(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return page;
  mlx5_ib_clock_info info{};
  info.cycles = Now<std::chrono::steady_clock>();
  info.nsec = Now<std::chrono::system_clock>();
  info.mult = 1;
  info.mask = ~uint64_t{0};
  std::memcpy(page, &info, sizeof(info));
  mprotect(page, size, protection);
  return page;
}

}  // namespace ringpost::sim::uverbs
