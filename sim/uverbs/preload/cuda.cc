// The CUDA driver's function that makes a dma-buf, in whose place this stands, so that it is known
// what memory a dma-buf is of.
#include <cstring>

#include "sim/uverbs/emulation.h"
#include "sim/uverbs/gpu/cuda_abi.h"
#include "sim/uverbs/gpu/dma_bufs.h"
#include "sim/uverbs/preload/cuda_lookup.h"

namespace {

namespace emulation = ringpost::sim::uverbs::emulation;
namespace gpu = ringpost::sim::uverbs::gpu;
namespace preload = ringpost::sim::uverbs::preload;

using gpu::CuAddress;
using gpu::CuResult;

using GetHandle = CuResult(void*, CuAddress, size_t, int, unsigned long long);

}  // namespace

extern "C" CuResult cuMemGetHandleForAddressRange(void* handle, CuAddress address, size_t bytes,
                                                  int type, unsigned long long flags) {
  GetHandle* const next = preload::OfDriver<GetHandle>("cuMemGetHandleForAddressRange");
  if (next == nullptr) return gpu::kCuNotInitialized;
  const CuResult result = next(handle, address, bytes, type, flags);
  if (result == gpu::kCuSuccess && type == gpu::kCuHandleDmaBuf && emulation::Active()) {
    gpu::NoteDmaBuf(*static_cast<int*>(handle), {address, bytes});
  }
  return result;
}

bool preload::StandsIn() { return emulation::Active(); }

// Of libringpost_io_memory.so, where that is preloaded too.
extern "C" __attribute__((weak)) void* ringpost_io_memory_stand_in(const char* name);

void* preload::StandInFor(const char* name) {
  if (std::strcmp(name, "cuMemGetHandleForAddressRange") == 0) {
    return reinterpret_cast<void*>(&cuMemGetHandleForAddressRange);
  }
  return ringpost_io_memory_stand_in != nullptr ? ringpost_io_memory_stand_in(name) : nullptr;
}
