// host_device.h: the one place that knows which compiler reads the transport.
//
// HOST_DEVICE marks functions that run in a kernel, in a host thread and in the simulator alike.
// Site names a source location. Simulated ports keep it with each memory access, so that the
// ordering checker can print both program points; on a GPU it is empty and costs nothing.
#pragma once

#include <cstdint>
#include <cstdlib>

#if defined(__CUDACC__)
#define HOST_DEVICE __host__ __device__ __forceinline__
#else
#define HOST_DEVICE inline
#endif

// As HOST_DEVICE, of what seldom runs and needs much stack: host compilers keep it out of line, so
// that a frame holds what the usual case needs.
#if defined(__CUDACC__)
#define HOST_DEVICE_SELDOM HOST_DEVICE
#else
#define HOST_DEVICE_SELDOM __attribute__((noinline))
#endif

// What a kernel calls and does not inline: its code stays out of the way of the usual case, which
// would otherwise jump over it. What goes in and comes back by reference lives in memory, so
// arguments are values. Host compilers choose for themselves.
#if defined(__CUDACC__)
#define HOST_DEVICE_APART __host__ __device__ __noinline__
#else
#define HOST_DEVICE_APART inline
#endif

// PTX, for cuda_port.cuh. The transport is __host__ __device__, so each operation needs a host body
// too: it ends there.
#if defined(__CUDA_ARCH__)
#define RINGPOST_PTX(...) asm volatile(__VA_ARGS__)
#define RINGPOST_UNROLL _Pragma("unroll")
#define RINGPOST_UNROLL_8 _Pragma("unroll 8")
// Known to be true here, so that nothing is compiled for what is excluded.
#define RINGPOST_ASSUME(...) __builtin_assume(__VA_ARGS__)
#else
#define RINGPOST_PTX(...) std::abort()
#define RINGPOST_UNROLL
#define RINGPOST_UNROLL_8
#define RINGPOST_ASSUME(...)
#endif

namespace ringpost {

// Four of the eight bytes of `low` (0 to 3) and `high` (4 to 7): each nibble of `order` names one,
// the lowest first. One instruction on a GPU, whose compiler makes four or more of shifts and
// masks.
#if defined(__CUDA_ARCH__)
inline constexpr bool kPicksBytes = true;
#else
inline constexpr bool kPicksBytes = false;
#endif
HOST_DEVICE constexpr uint32_t PickBytes(uint32_t low, uint32_t high, uint32_t order) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) return __byte_perm(low, high, order);
#endif
  const uint64_t both = uint64_t{high} << 32 | low;
  uint32_t picked = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t from = (order >> (4 * i)) & 7;
    picked |= static_cast<uint32_t>((both >> (8 * from)) & 0xff) << (8 * i);
  }
  return picked;
}

// How an object that lives long refers to what its caller keeps. A thread of a GPU has a copy, in
// registers: memory costs it a way to L2 after each acquire, which empties L1. OriginOf is what the
// caller keeps.
#if defined(__CUDA_ARCH__)
template <class T>
struct Kept : T {
  HOST_DEVICE explicit Kept(const T& from) : T(from), origin(&from) {}
  const T* origin;
};
template <class T>
HOST_DEVICE const T& OriginOf(const Kept<T>& kept) {
  return *kept.origin;
}
// Values that come from a kernel's parameters are read again from there before each use, for some
// 35 cycles each, however they are copied: ptxas knows that they are the same. It does not know
// what a clock's highest bit is.
class RegisterHold {
 public:
  HOST_DEVICE RegisterHold() {
    RINGPOST_PTX("mov.u32 %0, %%clock_hi;" : "=r"(zero_));
    zero_ >>= 31;
  }
  HOST_DEVICE void Keep(uint64_t& value) const { value |= uint64_t{zero_} << 32 | zero_; }
  HOST_DEVICE void Keep(uint32_t& value) const { value |= zero_; }

 private:
  uint32_t zero_ = 0;  // for 2^63 cycles
};
#else
template <class T>
using Kept = const T&;
template <class T>
HOST_DEVICE const T& OriginOf(const T& kept) {
  return kept;
}
class RegisterHold {
 public:
  template <class T>
  HOST_DEVICE void Keep(const T&) const {}
};
#endif

// Whether ThreadSanitizer watches this build; it does not follow fences, see host_port.h.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

// Tells a host core that this thread spins, which saves power and leaves its sibling the pipeline.
inline void SpinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

#if defined(__CUDACC__)
// Distinct inline namespaces keep the functions of the two compilers distinct symbols.
inline namespace cuda_build {
struct Site {
  static constexpr HOST_DEVICE Site Here() { return {}; }
};
}  // namespace cuda_build
#else
inline namespace host_build {
struct Site {
  const char* file = nullptr;
  uint32_t line = 0;

  // As a default argument this names the line of the call that uses the default.
  static constexpr Site Here(const char* file = __builtin_FILE(),
                             uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};
}  // namespace host_build
#endif

}  // namespace ringpost
