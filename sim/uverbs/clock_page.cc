#include "sim/uverbs/clock_page.h"

#include <rdma/mlx5-abi.h>

#include <chrono>
#include <cstdint>
#include <cstring>

namespace ringpost::sim::uverbs {
namespace {

constexpr uint64_t kBytes = 4096;
constexpr int kCommandShift = 8;

template <class Clock>
uint64_t Now() {
  const auto time = Clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace

off_t ClockPageOffset() {
  constexpr uint64_t kPage =
      (uint64_t{MLX5_IB_MMAP_CLOCK_INFO} << kCommandShift) | uint64_t{MLX5_IB_CLOCK_INFO_V1};
  return static_cast<off_t>(kPage * kBytes);
}

void WriteClockPage(void* page) {
  mlx5_ib_clock_info info{};
  info.cycles = Now<std::chrono::steady_clock>();
  info.nsec = Now<std::chrono::system_clock>();
  info.mult = 1;
  info.mask = ~uint64_t{0};
  std::memcpy(page, &info, sizeof(info));
}

}  // namespace ringpost::sim::uverbs
