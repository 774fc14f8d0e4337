#include "transport/memory/cuda_memory.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace ringpost {
namespace {

// As large as a page of a host may be: a dma-buf is of whole pages.
constexpr uint64_t kPageBytes = 65536;

uint64_t WholePages(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

Error Failed(const char* what, cudaError_t result) {
  cudaGetLastError();  // it is reported here, and must not show up in a later call
  return Error{std::string(what) + ": " + cudaGetErrorString(result)};
}

// Nobody can be told, but it must not show up in a later call.
void Drop(cudaError_t result) {
  if (result != cudaSuccess) cudaGetLastError();
}

void Release(uint64_t address, Placement placement) {
  void* const memory = reinterpret_cast<void*>(address);
  // At the end of a process the driver may be gone already, and has freed it.
  Drop(placement == Placement::kGpu ? cudaFree(memory) : cudaFreeHost(memory));
}

using GetHandle = CUresult (*)(void*, CUdeviceptr, size_t, CUmemRangeHandleType,
                               unsigned long long);

// The driver is reached through the runtime, so that a program starts without libcuda.
Result<GetHandle> FindGetHandle() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t result = cudaGetDriverEntryPointByVersion(
      "cuMemGetHandleForAddressRange", &function, 11070, cudaEnableDefault, &found);
  if (result != cudaSuccess) return Failed("cuMemGetHandleForAddressRange", result);
  if (found != cudaDriverEntryPointSuccess) {
    return Error{"this driver exports no dma-buf: it needs CUDA 11.7 or newer"};
  }
  return reinterpret_cast<GetHandle>(function);
}

// Runs `work(stream)` on a stream of its own and waits for that alone: kernels that run meanwhile,
// an agent's or the program's, hold nothing up.
template <class Work>
cudaError_t OnOwnStream(Work&& work) {
  cudaStream_t stream = nullptr;
  cudaError_t result = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (result != cudaSuccess) return result;
  result = work(stream);
  if (result == cudaSuccess) result = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return result;
}

// Zeroed memory, or null.
cudaError_t AllocateZeroed(Placement placement, uint64_t bytes, void** memory) {
  if (placement == Placement::kHost) {
    const cudaError_t result =
        cudaHostAlloc(memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
    if (result == cudaSuccess) std::memset(*memory, 0, bytes);
    return result;
  }
  cudaError_t result = cudaMalloc(memory, bytes);
  if (result != cudaSuccess) return result;
  result =
      OnOwnStream([&](cudaStream_t stream) { return cudaMemsetAsync(*memory, 0, bytes, stream); });
  if (result != cudaSuccess) cudaFree(*memory);
  return result;
}

}  // namespace

CudaMemory::~CudaMemory() {
  Drop(cudaSetDevice(device_));
  for (const auto& [address, taken] : taken_) Release(taken.memory, taken.placement);
}

Result<Allocation> CudaMemory::Allocate(Placement placement, uint64_t bytes) {
  if (bytes == 0) return Error{"an allocation has at least one byte"};
  void* memory = nullptr;
  cudaError_t result = cudaSetDevice(device_);
  if (result == cudaSuccess) result = AllocateZeroed(placement, WholePages(bytes), &memory);
  if (result == cudaSuccess && reinterpret_cast<uint64_t>(memory) % kPageBytes != 0) {
    // Small allocations of the program may stand before it in one of CUDA's own blocks.
    Release(reinterpret_cast<uint64_t>(memory), placement);
    result = AllocateZeroed(placement, WholePages(bytes) + kPageBytes, &memory);
  }
  if (result != cudaSuccess) return Failed("allocation", result);
  const uint64_t taken = reinterpret_cast<uint64_t>(memory);
  const uint64_t address = WholePages(taken);
  const std::lock_guard<std::mutex> lock(mutex_);
  taken_[address] = {taken, placement};
  return Allocation{address, bytes, placement};
}

void CudaMemory::Free(const Allocation& allocation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = taken_.find(allocation.address);
  if (found == taken_.end()) return;
  Drop(cudaSetDevice(device_));
  Release(found->second.memory, found->second.placement);
  taken_.erase(found);
}

Result<uint64_t> CudaMemory::Map(void* pages, uint64_t bytes, Mapping mapping) {
  unsigned flags = cudaHostRegisterMapped | cudaHostRegisterPortable;
  // Ordinary memory refuses this flag; registers of a device cannot do without it.
  if (mapping == Mapping::kRegisters) flags |= cudaHostRegisterIoMemory;
  cudaError_t result = cudaSetDevice(device_);
  if (result == cudaSuccess) result = cudaHostRegister(pages, bytes, flags);
  if (result != cudaSuccess) return Failed("cudaHostRegister", result);
  void* address = nullptr;
  result = cudaHostGetDevicePointer(&address, pages, 0);
  if (result != cudaSuccess) {
    Drop(cudaHostUnregister(pages));
    return Failed("cudaHostGetDevicePointer", result);
  }
  return reinterpret_cast<uint64_t>(address);
}

void CudaMemory::Unmap(void* pages) {
  Drop(cudaSetDevice(device_));
  Drop(cudaHostUnregister(pages));
}

Result<DmaBuf> CudaMemory::ExportDmaBuf(const Allocation& allocation) {
  if (allocation.placement != Placement::kGpu) {
    return Error{"only GPU memory is exported as a dma-buf"};
  }
  const cudaError_t selected = cudaSetDevice(device_);
  if (selected != cudaSuccess) return Failed("cudaSetDevice", selected);
  const Result<GetHandle> get = FindGetHandle();
  if (!get.Ok()) return Error{get.Message()};
  // Pages of the host. What is less than one of them, as parts of small allocations are, CUDA
  // refuses.
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  DmaBuf made;
  made.offset = allocation.address % page;
  const uint64_t bytes = (made.offset + allocation.bytes + page - 1) / page * page;
  const CUresult result = get.Value()(&made.file, allocation.address - made.offset, bytes,
                                      CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  if (result != CUDA_SUCCESS) {
    return Error{"cuMemGetHandleForAddressRange: error " + std::to_string(result)};
  }
  return made;
}

Result<bool> CudaMemory::Copy(uint64_t to, uint64_t from, uint64_t bytes) {
  cudaError_t result = cudaSetDevice(device_);
  if (result == cudaSuccess) {
    result = OnOwnStream([&](cudaStream_t stream) {
      return cudaMemcpyAsync(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
                             bytes, cudaMemcpyDefault, stream);
    });
  }
  if (result != cudaSuccess) return Failed("cudaMemcpy", result);
  return true;
}

}  // namespace ringpost
