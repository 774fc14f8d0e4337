// cuda_driver.h: the CUDA driver that the program itself has loaded. Any thread may call.
//
// Nothing is linked, and nothing loaded: without the driver in the process there is no memory of a
// GPU in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "sim/uverbs/gpu/cuda_abi.h"

namespace ringpost::sim::uverbs::gpu {

struct CudaDriver {
#define RINGPOST_MEMBER(MEMBER, NAME, ...) std::add_pointer_t<__VA_ARGS__> MEMBER = nullptr;
  RINGPOST_CUDA_FUNCTIONS(RINGPOST_MEMBER)
#undef RINGPOST_MEMBER
};

// The library that the program has loaded, by dlopen; null: none. Touches no file. As the next.
void* OpenLoadedDriver();
// Looks whether the program has loaded it. On the program's own threads: it takes a lock that one
// of them holds while it loads a library, whose start may wait for a NIC's thread.
void LookForDriver();
// What was found; null where there is none, or one that lacks a function (CUDA before 11).
const CudaDriver* LoadedDriver();

// "WHAT: CUDA_ERROR_..."
std::string CudaFailed(const CudaDriver& driver, const char* what, CuResult result);

// The GPU that has all of [address, address + bytes) in its own memory. Nothing for memory of the
// host, also where CUDA pinned it, and for managed memory, which the host reaches.
struct GpuPlace {
  CuContext context = nullptr;  // null: the allocation names none; the device's primary one
  CuDevice device = 0;
};
std::optional<GpuPlace> FindGpu(uint64_t address, uint64_t bytes);

}  // namespace ringpost::sim::uverbs::gpu
