#include "tests/uverbs/gpu/fake_memory.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sim/uverbs/gpu/cuda_abi.h"

namespace ringpost::fake_gpu {
namespace {

using namespace sim::uverbs::gpu;

constexpr int kCudaVersion = 12000;
constexpr unsigned kIoMemory = 4;

void* Library() {
  static void* const library = [] {
    void* found = dlopen("libcuda.so.1", RTLD_NOW);
    if (found != nullptr && dlsym(found, kRangeSymbol) != nullptr) return found;
    std::fprintf(stderr, "the stand-in for libcuda.so.1 is not in LD_LIBRARY_PATH\n");
    std::abort();
  }();
  return library;
}

template <class Function>
Function* Find(const char* name) {
  using GetProc = CuResult(const char*, void**, int, uint64_t, void*);
  static auto* const get_proc = reinterpret_cast<GetProc*>(dlsym(Library(), "cuGetProcAddress_v2"));
  void* function = nullptr;
  if (get_proc(name, &function, kCudaVersion, 0, nullptr) != kCuSuccess) std::abort();
  return reinterpret_cast<Function*>(function);
}

// A context is current in each thread that calls, as CUDA's runtime has it.
void MakeCurrent() {
  thread_local const CuResult pushed =
      Find<CuResult(CuContext)>("cuCtxPushCurrent")(reinterpret_cast<CuContext>(0x1000));
  static_cast<void>(pushed);
}

std::string Failed(const char* call, CuResult result) {
  return std::string(call) + ": error " + std::to_string(result);
}

void Release(uint64_t address, Placement placement) {
  if (placement == Placement::kGpu) {
    Find<CuResult(CuAddress)>("cuMemFree")(address);
  } else {
    Find<CuResult(void*)>("cuMemFreeHost")(reinterpret_cast<void*>(address));
  }
}

}  // namespace

FakeMemory::FakeMemory() { MakeCurrent(); }

FakeMemory::~FakeMemory() {
  for (const auto& [address, placement] : placement_of_) Release(address, placement);
}

Result<Allocation> FakeMemory::Allocate(Placement placement, uint64_t bytes) {
  MakeCurrent();
  CuAddress address = 0;
  CuResult result = kCuSuccess;
  if (placement == Placement::kGpu) {
    result = Find<CuResult(CuAddress*, size_t)>("cuMemAlloc")(&address, bytes);
  } else {
    void* memory = nullptr;
    result = Find<CuResult(void**, size_t, unsigned)>("cuMemHostAlloc")(&memory, bytes, 3);
    address = reinterpret_cast<CuAddress>(memory);
  }
  if (result != kCuSuccess) return Error{Failed("allocation", result)};
  std::memset(reinterpret_cast<void*>(Memory().Real(address)), 0, bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  placement_of_[address] = placement;
  return Allocation{address, bytes, placement};
}

void FakeMemory::Free(const Allocation& allocation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = placement_of_.find(allocation.address);
  if (found == placement_of_.end()) return;
  Release(found->first, found->second);
  placement_of_.erase(found);
}

Result<uint64_t> FakeMemory::Map(void* pages, uint64_t bytes, Mapping mapping) {
  const unsigned flags = 3 | (mapping == Mapping::kRegisters ? kIoMemory : 0);
  const CuResult result =
      Find<CuResult(void*, size_t, unsigned)>("cuMemHostRegister")(pages, bytes, flags);
  if (result != kCuSuccess) return Error{Failed("cuMemHostRegister", result)};
  return reinterpret_cast<uint64_t>(pages);
}

void FakeMemory::Unmap(void* pages) { Find<CuResult(void*)>("cuMemHostUnregister")(pages); }

Result<DmaBuf> FakeMemory::ExportDmaBuf(const Allocation& allocation) {
  if (!exports_) return Error{"this driver exports no dma-buf"};
  constexpr uint64_t kPage = 4096;
  DmaBuf made;
  made.offset = allocation.address % kPage;
  const CuResult result = Find<CuResult(void*, CuAddress, size_t, int, unsigned long long)>(
      "cuMemGetHandleForAddressRange")(&made.file, allocation.address - made.offset,
                                       (made.offset + allocation.bytes + kPage - 1) / kPage * kPage,
                                       kCuHandleDmaBuf, 0);
  if (result != kCuSuccess) return Error{Failed("cuMemGetHandleForAddressRange", result)};
  return made;
}

Result<bool> FakeMemory::Copy(uint64_t to, uint64_t from, uint64_t bytes) {
  Find<CuResult(CuAddress, CuAddress, size_t)>("cuMemcpy")(to, from, bytes);
  return true;
}

const Range& FakeMemory::Memory() const {
  return *reinterpret_cast<const Range* (*)()>(dlsym(Library(), kRangeSymbol))();
}

Counters FakeMemory::Count() const {
  return *reinterpret_cast<const Counters* (*)()>(dlsym(Library(), kCountersSymbol))();
}

}  // namespace ringpost::fake_gpu
