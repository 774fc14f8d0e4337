// cuda_abi.h: of the binary interface of CUDA's driver (cuda.h), what this library uses. It is
// built where there is no CUDA Toolkit, too. tests/gpu/cuda_abi_test.cc holds it against cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringpost::sim::uverbs::gpu {

using CuResult = int;
inline constexpr CuResult kCuSuccess = 0;
inline constexpr CuResult kCuInvalidValue = 1;
inline constexpr CuResult kCuNotInitialized = 3;
inline constexpr CuResult kCuNotReady = 600;

using CuDevice = int;
using CuAddress = unsigned long long;
using CuContext = struct CuContextObject*;
using CuModule = struct CuModuleObject*;
using CuFunction = struct CuFunctionObject*;
using CuStream = struct CuStreamObject*;

// CUpointer_attribute
inline constexpr int kCuPointerContext = 1;
inline constexpr int kCuPointerMemoryType = 2;
inline constexpr int kCuPointerIsManaged = 8;
inline constexpr int kCuPointerDeviceOrdinal = 9;
inline constexpr int kCuPointerRangeStart = 11;
inline constexpr int kCuPointerRangeSize = 12;

inline constexpr unsigned kCuMemoryTypeDevice = 2;
inline constexpr unsigned kCuHostAllocPortable = 1, kCuHostAllocDeviceMap = 2;
inline constexpr unsigned kCuHostRegisterIoMemory = 4;
inline constexpr unsigned kCuStreamNonBlocking = 1;
inline constexpr int kCuHandleDmaBuf = 1;  // CUmemRangeHandleType

// call(member, name of the export, type) for each function of the driver that is called here. The
// names are those of the exports that cuda.h of CUDA 12 and 13 stands for.
#define RINGPOST_CUDA_FUNCTIONS(CALL)                                                             \
  CALL(pointer_attribute, cuPointerGetAttribute, CuResult(void*, int, CuAddress))                 \
  CALL(retain_primary, cuDevicePrimaryCtxRetain, CuResult(CuContext*, CuDevice))                  \
  CALL(push_context, cuCtxPushCurrent_v2, CuResult(CuContext))                                    \
  CALL(pop_context, cuCtxPopCurrent_v2, CuResult(CuContext*))                                     \
  CALL(priority_range, cuCtxGetStreamPriorityRange, CuResult(int*, int*))                         \
  CALL(create_stream, cuStreamCreateWithPriority, CuResult(CuStream*, unsigned, int))             \
  CALL(destroy_stream, cuStreamDestroy_v2, CuResult(CuStream))                                    \
  CALL(query_stream, cuStreamQuery, CuResult(CuStream))                                           \
  CALL(load_module, cuModuleLoadData, CuResult(CuModule*, const void*))                           \
  CALL(unload_module, cuModuleUnload, CuResult(CuModule))                                         \
  CALL(find_function, cuModuleGetFunction, CuResult(CuFunction*, CuModule, const char*))          \
  CALL(launch, cuLaunchKernel,                                                                    \
       CuResult(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                CuStream, void**, void**))                                                        \
  CALL(allocate_host, cuMemHostAlloc, CuResult(void**, size_t, unsigned))                         \
  CALL(free_host, cuMemFreeHost, CuResult(void*))                                                 \
  CALL(error_name, cuGetErrorName, CuResult(CuResult, const char**))

}  // namespace ringpost::sim::uverbs::gpu
