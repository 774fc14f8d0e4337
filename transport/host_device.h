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

// PTX, for cuda_port.cuh. The transport is __host__ __device__, so each operation needs a host body
// too: it ends there.
#if defined(__CUDA_ARCH__)
#define RINGPOST_PTX(...) asm volatile(__VA_ARGS__)
#define RINGPOST_UNROLL _Pragma("unroll")
#else
#define RINGPOST_PTX(...) std::abort()
#define RINGPOST_UNROLL
#endif

namespace ringpost {

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
