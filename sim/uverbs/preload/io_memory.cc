// A library that is preloaded besides libringpost_uverbs.so, where a GPU is to ring doorbells of
// virtual devices.
//
// Programs register the page of a UAR with CUDA as I/O memory, which it is on hardware. That of a
// virtual device is shared memory of the host, which CUDA refuses as I/O memory and takes as any
// other. So this stands in for cuMemHostRegister, and for such a page, which it knows by its file,
// leaves the flag out. It changes what CUDA is asked for, and so it is on request alone. The other
// library, which stands in for the look-up of CUDA's functions, asks this one.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "sim/uverbs/gpu/cuda_abi.h"
#include "sim/uverbs/uar_file.h"

// Of the other library.
extern "C" __attribute__((weak)) void* ringpost_address_in_driver(const char* name);

namespace {

namespace gpu = ringpost::sim::uverbs::gpu;

using gpu::CuResult;
using Register = CuResult(void*, size_t, unsigned);

// Whether all of it is in one mapping of a UAR page's file. The mapping may go past the libraries
// that stand in for mmap, so the system is asked.
bool IsUarPage(const void* address, size_t bytes) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  const auto first = reinterpret_cast<uintptr_t>(address);
  char line[512];
  bool is = false;
  while (!is && std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    is = begin <= first && first < end && bytes <= end - first &&
         std::strstr(line, ringpost::sim::uverbs::kUarFileInMaps) != nullptr;
  }
  std::fclose(maps);
  return is;
}

}  // namespace

extern "C" {

CuResult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  void* const next = ringpost_address_in_driver == nullptr
                         ? nullptr
                         : ringpost_address_in_driver("cuMemHostRegister_v2");
  if (next == nullptr) return gpu::kCuNotInitialized;
  const bool io = (flags & gpu::kCuHostRegisterIoMemory) != 0 && IsUarPage(address, bytes);
  return reinterpret_cast<Register*>(next)(address, bytes,
                                           io ? flags & ~gpu::kCuHostRegisterIoMemory : flags);
}

CuResult cuMemHostRegister(void* address, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(address, bytes, flags);
}

void* ringpost_io_memory_stand_in(const char* name) {
  const bool registers =
      std::strcmp(name, "cuMemHostRegister") == 0 || std::strcmp(name, "cuMemHostRegister_v2") == 0;
  return registers ? reinterpret_cast<void*>(&cuMemHostRegister_v2) : nullptr;
}

}  // extern "C"
