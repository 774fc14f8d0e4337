// A stand-in for libcuda.so.1, for machines without a GPU: as much of CUDA's driver as it takes to
// have memory of a GPU, to export it as a dma-buf, and to run the agent's kernel, which 32 threads
// of the host are here. What a GPU forbids it forbids: fake_gpu.h.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/uverbs/gpu/cuda_abi.h"
#include "tests/uverbs/gpu/fake_gpu.h"
#include "transport/host_warp.h"
#include "transport/memory/agent_loop.h"

namespace {

using namespace ringpost::sim::uverbs::gpu;
using ringpost::AgentMailbox;
using ringpost::fake_gpu::Counters;
using ringpost::fake_gpu::FakeGpuPort;
using ringpost::fake_gpu::Range;

constexpr uint64_t kMemoryBytes = 256 << 20;
constexpr uint64_t kPage = 4096;
constexpr CuResult kAlreadyRegistered = 712, kNotFound = 500, kNotRegistered = 713;
constexpr unsigned kIoMemory = 4;

struct Agent {
  std::unique_ptr<ringpost::HostWarp> warp;
  std::vector<std::thread> lanes;
  std::atomic<uint32_t> left{0};
  ~Agent() {
    for (std::thread& lane : lanes) lane.join();
  }
};

struct Gpu {
  std::mutex mutex;
  Range memory;
  uint64_t next = 0;                   // of the range's bytes, the first that was never given out
  std::map<uint64_t, uint64_t> given;  // bytes, by address
  std::map<void*, uint64_t> pinned;    // bytes of cuMemHostAlloc
  std::map<uint64_t, uint64_t> host_map;  // bytes of host pages, by address
  Counters counters;
};

// Never destroyed: threads of agents may still be there.
Gpu& TheGpu() {
  static Gpu* const gpu = [] {
    auto* made = new Gpu();
    const int file = memfd_create("fake_gpu", MFD_CLOEXEC);
    if (ftruncate(file, kMemoryBytes) != 0) std::abort();
    void* seen = mmap(nullptr, kMemoryBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* real = mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (seen == MAP_FAILED || real == MAP_FAILED) std::abort();
    close(file);
    const auto begin = reinterpret_cast<uint64_t>(seen);
    made->memory = {begin, begin + kMemoryBytes, reinterpret_cast<uint64_t>(real) - begin};
    return made;
  }();
  return *gpu;
}

// The allocation that has this address; false: there is none.
bool FindAllocation(uint64_t address, uint64_t* begin, uint64_t* bytes) {
  auto after = TheGpu().given.upper_bound(address);
  if (after == TheGpu().given.begin()) return false;
  --after;
  *begin = after->first;
  *bytes = after->second;
  return address - after->first < after->second;
}

thread_local std::vector<CuContext> t_contexts;
auto* const kPrimary = reinterpret_cast<CuContext>(0x1000);
auto* const kKernel = reinterpret_cast<CuFunction>(0x2000);
auto* const kModule = reinterpret_cast<CuModule>(0x3000);

}  // namespace

extern "C" {

const Range* FakeGpuRange() { return &TheGpu().memory; }
const Counters* FakeGpuCounters() { return &TheGpu().counters; }

CuResult cuMemAlloc_v2(CuAddress* address, size_t bytes) {
  Gpu& gpu = TheGpu();
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  if (t_contexts.empty() || bytes == 0) return kCuInvalidValue;
  const uint64_t whole = (bytes + kPage - 1) / kPage * kPage;
  // A page that is nobody's keeps allocations apart.
  if (gpu.next + whole + kPage > kMemoryBytes) return 2;
  *address = gpu.memory.begin + gpu.next;
  gpu.next += whole + kPage;
  gpu.given[*address] = whole;
  return kCuSuccess;
}

CuResult cuMemFree_v2(CuAddress address) {
  const std::lock_guard<std::mutex> lock(TheGpu().mutex);
  return TheGpu().given.erase(address) == 1 ? kCuSuccess : kCuInvalidValue;
}

CuResult cuMemcpy(CuAddress to, CuAddress from, size_t bytes) {
  const Range& memory = TheGpu().memory;
  std::memcpy(reinterpret_cast<void*>(memory.Real(to)),
              reinterpret_cast<const void*>(memory.Real(from)), bytes);
  return kCuSuccess;
}

CuResult cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  if (t_contexts.empty()) return 201;
  *memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  const std::lock_guard<std::mutex> lock(TheGpu().mutex);
  TheGpu().pinned[*memory] = bytes;
  return kCuSuccess;
}

CuResult cuMemFreeHost(void* memory) {
  const std::lock_guard<std::mutex> lock(TheGpu().mutex);
  if (TheGpu().pinned.erase(memory) == 0) return kCuInvalidValue;
  std::free(memory);
  return kCuSuccess;
}

CuResult cuMemHostRegister_v2(void* pages, size_t bytes, unsigned flags) {
  Gpu& gpu = TheGpu();
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  // As a driver answers for pages that are no registers of a device.
  if ((flags & kIoMemory) != 0) {
    ++gpu.counters.io_maps;
    return kCuInvalidValue;
  }
  const auto at = reinterpret_cast<uint64_t>(pages);
  if (at % kPage != 0 || bytes % kPage != 0) return kCuInvalidValue;
  for (const auto& [begin, length] : gpu.host_map) {
    if (at < begin + length && begin < at + bytes) return kAlreadyRegistered;
  }
  gpu.host_map[at] = bytes;
  ++gpu.counters.mappings;
  return kCuSuccess;
}

CuResult cuMemHostUnregister(void* pages) {
  Gpu& gpu = TheGpu();
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  if (gpu.host_map.erase(reinterpret_cast<uint64_t>(pages)) == 0) return kNotRegistered;
  --gpu.counters.mappings;
  return kCuSuccess;
}

CuResult cuPointerGetAttribute(void* answer, int attribute, CuAddress address) {
  const std::lock_guard<std::mutex> lock(TheGpu().mutex);
  uint64_t begin = 0, bytes = 0;
  if (!FindAllocation(address, &begin, &bytes)) return kCuInvalidValue;
  switch (attribute) {
    case kCuPointerContext:
      *static_cast<CuContext*>(answer) = nullptr;
      return kCuSuccess;
    case kCuPointerMemoryType:
      *static_cast<unsigned*>(answer) = kCuMemoryTypeDevice;
      return kCuSuccess;
    case kCuPointerIsManaged:
      *static_cast<bool*>(answer) = false;
      return kCuSuccess;
    case kCuPointerDeviceOrdinal:
      *static_cast<int*>(answer) = 0;
      return kCuSuccess;
    case kCuPointerRangeStart:
      *static_cast<CuAddress*>(answer) = begin;
      return kCuSuccess;
    case kCuPointerRangeSize:
      *static_cast<size_t*>(answer) = bytes;
      return kCuSuccess;
    default:
      return kCuInvalidValue;
  }
}

// The file is empty: who wants to know what memory it is of was told when it was made.
CuResult cuMemGetHandleForAddressRange(void* handle, CuAddress address, size_t bytes, int type,
                                       unsigned long long) {
  Gpu& gpu = TheGpu();
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  uint64_t begin = 0, length = 0;
  if (type != kCuHandleDmaBuf || address % kPage != 0 || bytes % kPage != 0 ||
      !FindAllocation(address, &begin, &length) || address + bytes > begin + length) {
    return kCuInvalidValue;
  }
  ++gpu.counters.exports;
  *static_cast<int*>(handle) = memfd_create("fake_dma_buf", MFD_CLOEXEC);
  return kCuSuccess;
}

CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice) {
  *context = kPrimary;
  return kCuSuccess;
}

CuResult cuCtxPushCurrent_v2(CuContext context) {
  t_contexts.push_back(context);
  return kCuSuccess;
}

CuResult cuCtxPopCurrent_v2(CuContext* context) {
  if (t_contexts.empty()) return 201;
  *context = t_contexts.back();
  t_contexts.pop_back();
  return kCuSuccess;
}

CuResult cuCtxGetStreamPriorityRange(int* least, int* most) {
  *least = 0;
  *most = -5;
  return kCuSuccess;
}

CuResult cuStreamCreateWithPriority(CuStream* stream, unsigned flags, int) {
  if (t_contexts.empty() || flags != kCuStreamNonBlocking) return kCuInvalidValue;
  *stream = reinterpret_cast<CuStream>(new std::unique_ptr<Agent>());
  return kCuSuccess;
}

CuResult cuStreamDestroy_v2(CuStream stream) {
  delete reinterpret_cast<std::unique_ptr<Agent>*>(stream);
  return kCuSuccess;
}

CuResult cuStreamQuery(CuStream stream) {
  const auto& agent = *reinterpret_cast<std::unique_ptr<Agent>*>(stream);
  return agent == nullptr || agent->left.load() == 0 ? kCuSuccess : kCuNotReady;
}

CuResult cuModuleLoadData(CuModule* module, const void* image) {
  if (t_contexts.empty() || image == nullptr) return kCuInvalidValue;
  *module = kModule;
  return kCuSuccess;
}

CuResult cuModuleUnload(CuModule module) {
  return module == kModule ? kCuSuccess : kCuInvalidValue;
}

CuResult cuModuleGetFunction(CuFunction* function, CuModule module, const char* name) {
  if (module != kModule || std::strcmp(name, "RingpostAgent") != 0) return kNotFound;
  *function = kKernel;
  return kCuSuccess;
}

CuResult cuLaunchKernel(CuFunction function, unsigned grid, unsigned, unsigned, unsigned block,
                        unsigned, unsigned, unsigned, CuStream stream, void** arguments, void**) {
  if (t_contexts.empty() || function != kKernel || grid != 1 || block != AgentMailbox::kWords) {
    return kCuInvalidValue;
  }
  // As where the program is in a call that waits for all kernels.
  if (const char* held_up_s = std::getenv("FAKE_CUDA_HELD_UP_S")) {
    std::this_thread::sleep_for(std::chrono::seconds(std::atoi(held_up_s)));
  }
  auto* const mailbox = *static_cast<AgentMailbox**>(arguments[0]);
  const uint64_t done = *static_cast<uint64_t*>(arguments[1]);
  const uint64_t lease = *static_cast<uint64_t*>(arguments[2]);
  auto& slot = *reinterpret_cast<std::unique_ptr<Agent>*>(stream);
  slot = nullptr;  // the one before has ended
  auto agent = std::make_unique<Agent>();
  agent->warp = std::make_unique<ringpost::HostWarp>(block);
  agent->left.store(block);
  for (uint32_t lane = 0; lane < block; ++lane) {
    agent->lanes.emplace_back([raw = agent.get(), mailbox, done, lease, lane] {
      FakeGpuPort port(ringpost::HostGroup(*raw->warp, lane), TheGpu().memory);
      ringpost::AgentLoop<FakeGpuPort>(port, mailbox).Run(done, lease);
      raw->left.fetch_sub(1);
    });
  }
  slot = std::move(agent);
  const std::lock_guard<std::mutex> lock(TheGpu().mutex);
  ++TheGpu().counters.agents;
  return kCuSuccess;
}

CuResult cuGetErrorName(CuResult, const char** name) {
  *name = "CUDA_ERROR_OF_THE_STAND_IN";
  return kCuSuccess;
}

// Not by dlsym, as a driver does not either.
CuResult cuGetProcAddress_v2(const char* name, void** function, int, uint64_t, void*) {
  const struct {
    const char* name;
    void* function;
  } rows[] = {
      {"cuMemAlloc", reinterpret_cast<void*>(&cuMemAlloc_v2)},
      {"cuMemFree", reinterpret_cast<void*>(&cuMemFree_v2)},
      {"cuMemcpy", reinterpret_cast<void*>(&cuMemcpy)},
      {"cuMemHostAlloc", reinterpret_cast<void*>(&cuMemHostAlloc)},
      {"cuMemFreeHost", reinterpret_cast<void*>(&cuMemFreeHost)},
      {"cuMemHostRegister", reinterpret_cast<void*>(&cuMemHostRegister_v2)},
      {"cuMemHostUnregister", reinterpret_cast<void*>(&cuMemHostUnregister)},
      {"cuMemGetHandleForAddressRange", reinterpret_cast<void*>(&cuMemGetHandleForAddressRange)},
      {"cuCtxPushCurrent", reinterpret_cast<void*>(&cuCtxPushCurrent_v2)},
      {"cuGetProcAddress", reinterpret_cast<void*>(&cuGetProcAddress_v2)},
  };
  for (const auto& row : rows) {
    if (std::strcmp(row.name, name) == 0) *function = row.function;
    if (std::strcmp(row.name, name) == 0) return kCuSuccess;
  }
  return kNotFound;
}

}  // extern "C"
