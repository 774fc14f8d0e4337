#include <cuda.h>
#include <cuda_runtime.h>

#include <cstring>

#include "transport/memory/cuda_memory.h"

namespace ringpost {
namespace {

// Exported and mapped ranges are whole pages of the host, which dma-bufs ask for.
constexpr uint64_t kPageBytes = 65536;

uint64_t WholePages(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

bool Succeeded(cudaError_t result, const char* what, std::string* error) {
  if (result == cudaSuccess) return true;
  cudaGetLastError();  // it is reported here, and must not show up in a later call
  *error = std::string(what) + ": " + cudaGetErrorString(result);
  return false;
}

void Release(uint64_t address, Placement placement) {
  void* const memory = reinterpret_cast<void*>(address);
  // At the end of a process the driver may be gone already, and has freed it.
  static_cast<void>(placement == Placement::kGpu ? cudaFree(memory) : cudaFreeHost(memory));
}

using GetHandle = CUresult (*)(void*, CUdeviceptr, size_t, CUmemRangeHandleType,
                               unsigned long long);

// The driver is reached through the runtime, so that a program starts without libcuda.
GetHandle FindGetHandle(std::string* error) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t result = cudaGetDriverEntryPointByVersion(
      "cuMemGetHandleForAddressRange", &function, 11070, cudaEnableDefault, &found);
  if (!Succeeded(result, "cuMemGetHandleForAddressRange", error)) return nullptr;
  if (found != cudaDriverEntryPointSuccess) {
    *error = "this driver exports no dma-buf: it needs CUDA 11.7 or newer";
    return nullptr;
  }
  return reinterpret_cast<GetHandle>(function);
}

}  // namespace

CudaMemory::~CudaMemory() {
  static_cast<void>(cudaSetDevice(device_));
  for (const auto& [address, placement] : placement_of_) Release(address, placement);
}

std::optional<Allocation> CudaMemory::Allocate(Placement placement, uint64_t bytes,
                                               std::string* error) {
  if (bytes == 0) {
    *error = "an allocation has at least one byte";
    return std::nullopt;
  }
  if (!Succeeded(cudaSetDevice(device_), "cudaSetDevice", error)) return std::nullopt;
  void* memory = nullptr;
  const uint64_t whole = WholePages(bytes);
  if (placement == Placement::kGpu) {
    if (!Succeeded(cudaMalloc(&memory, whole), "cudaMalloc", error)) return std::nullopt;
    if (!Succeeded(cudaMemset(memory, 0, whole), "cudaMemset", error) ||
        !Succeeded(cudaDeviceSynchronize(), "cudaMemset", error)) {
      Release(reinterpret_cast<uint64_t>(memory), placement);
      return std::nullopt;
    }
  } else {
    const unsigned flags = cudaHostAllocMapped | cudaHostAllocPortable;
    if (!Succeeded(cudaHostAlloc(&memory, whole, flags), "cudaHostAlloc", error)) {
      return std::nullopt;
    }
    std::memset(memory, 0, whole);
  }
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  const std::lock_guard<std::mutex> lock(mutex_);
  placement_of_.emplace(address, placement);
  return Allocation{address, bytes, placement};
}

void CudaMemory::Free(const Allocation& allocation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = placement_of_.find(allocation.address);
  if (found == placement_of_.end()) return;
  static_cast<void>(cudaSetDevice(device_));
  Release(found->first, found->second);
  placement_of_.erase(found);
}

std::optional<uint64_t> CudaMemory::Map(void* pages, uint64_t bytes, Mapping mapping,
                                        std::string* error) {
  if (!Succeeded(cudaSetDevice(device_), "cudaSetDevice", error)) return std::nullopt;
  unsigned flags = cudaHostRegisterMapped | cudaHostRegisterPortable;
  // Ordinary memory refuses this flag; registers of a device cannot do without it.
  if (mapping == Mapping::kRegisters) flags |= cudaHostRegisterIoMemory;
  if (!Succeeded(cudaHostRegister(pages, bytes, flags), "cudaHostRegister", error)) {
    return std::nullopt;
  }
  void* address = nullptr;
  if (!Succeeded(cudaHostGetDevicePointer(&address, pages, 0), "device pointer", error)) {
    cudaHostUnregister(pages);
    return std::nullopt;
  }
  return reinterpret_cast<uint64_t>(address);
}

void CudaMemory::Unmap(void* pages) {
  static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaHostUnregister(pages));
}

std::optional<int> CudaMemory::ExportDmaBuf(const Allocation& allocation, std::string* error) {
  if (allocation.placement != Placement::kGpu) {
    *error = "only GPU memory is exported as a dma-buf";
    return std::nullopt;
  }
  if (!Succeeded(cudaSetDevice(device_), "cudaSetDevice", error)) return std::nullopt;
  const GetHandle get = FindGetHandle(error);
  if (get == nullptr) return std::nullopt;
  int descriptor = -1;
  const CUresult result = get(&descriptor, allocation.address, WholePages(allocation.bytes),
                              CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  if (result != CUDA_SUCCESS) {
    *error = "cuMemGetHandleForAddressRange: error " + std::to_string(result);
    return std::nullopt;
  }
  return descriptor;
}

bool CudaMemory::Copy(uint64_t to, uint64_t from, uint64_t bytes, std::string* error) {
  if (!Succeeded(cudaSetDevice(device_), "cudaSetDevice", error)) return false;
  const cudaError_t result = cudaMemcpy(
      reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes, cudaMemcpyDefault);
  // A copy between two places on the device may return before it is done.
  return Succeeded(result, "cudaMemcpy", error) &&
         Succeeded(cudaDeviceSynchronize(), "cudaMemcpy", error);
}

}  // namespace ringpost
