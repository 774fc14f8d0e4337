#include "sim/uverbs/gpu/cuda_driver.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <mutex>
#include <string_view>

namespace ringpost::sim::uverbs::gpu {
namespace {

std::atomic<const CudaDriver*> g_loaded{nullptr};

bool Fill(void* library, CudaDriver& driver) {
  bool complete = true;
#define RINGPOST_FIND(MEMBER, NAME, ...)                                                    \
  driver.MEMBER = reinterpret_cast<std::add_pointer_t<__VA_ARGS__>>(dlsym(library, #NAME)); \
  complete = complete && driver.MEMBER != nullptr;
  RINGPOST_CUDA_FUNCTIONS(RINGPOST_FIND)
#undef RINGPOST_FIND
  return complete;
}

template <class T>
bool Ask(const CudaDriver& driver, int attribute, uint64_t address, T* answer) {
  return driver.pointer_attribute(answer, attribute, address) == kCuSuccess;
}

// Of the allocation, or of the piece of it, that has `address`; and where that ends.
bool Locate(const CudaDriver& driver, uint64_t address, GpuPlace* place, uint64_t* end) {
  unsigned type = 0, managed = 0;
  if (!Ask(driver, kCuPointerMemoryType, address, &type) || type != kCuMemoryTypeDevice) {
    return false;
  }
  // A char or an int is written, by the driver's version.
  if (Ask(driver, kCuPointerIsManaged, address, &managed) && managed != 0) return false;
  CuAddress start = 0;
  size_t size = 0;
  if (!Ask(driver, kCuPointerDeviceOrdinal, address, &place->device) ||
      !Ask(driver, kCuPointerRangeStart, address, &start) ||
      !Ask(driver, kCuPointerRangeSize, address, &size)) {
    return false;
  }
  // Memory that was mapped by itself (cuMemMap) has no context of its own.
  if (!Ask(driver, kCuPointerContext, address, &place->context)) place->context = nullptr;
  *end = start + size;
  return *end > address;
}

}  // namespace

// By the path that it was loaded from: by its name alone dlopen would look through folders first.
void* OpenLoadedDriver() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* found) {
        const std::string_view name = object->dlpi_name;
        const bool is_driver = name.substr(name.rfind('/') + 1).starts_with("libcuda.so");
        if (is_driver) *static_cast<std::string*>(found) = name;
        return is_driver ? 1 : 0;
      },
      &path);
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
}

void LookForDriver() {
  static std::mutex mutex;
  static CudaDriver driver;
  static bool incomplete = false;
  if (LoadedDriver() != nullptr) return;
  // It stays loaded from then on.
  void* const library = OpenLoadedDriver();
  if (library == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex);
  if (incomplete || LoadedDriver() != nullptr) return;
  incomplete = !Fill(library, driver);
  // Release: orders the functions before the pointer to them.
  if (!incomplete) g_loaded.store(&driver, std::memory_order_release);
}

const CudaDriver* LoadedDriver() { return g_loaded.load(std::memory_order_acquire); }

std::string CudaFailed(const CudaDriver& driver, const char* what, CuResult result) {
  const char* name = nullptr;
  if (driver.error_name(result, &name) != kCuSuccess || name == nullptr) name = "unknown error";
  return std::string(what) + ": " + name;
}

std::optional<GpuPlace> FindGpu(uint64_t address, uint64_t bytes) {
  const CudaDriver* driver = LoadedDriver();
  if (driver == nullptr || bytes == 0 || address + bytes < address) return std::nullopt;
  GpuPlace place;
  uint64_t at = address;
  if (!Locate(*driver, address, &place, &at)) return std::nullopt;
  // Pieces that were mapped one behind the other may be of several GPUs.
  while (at < address + bytes) {
    GpuPlace next;
    if (!Locate(*driver, at, &next, &at)) return std::nullopt;
    if (next.device != place.device || next.context != place.context) return std::nullopt;
  }
  return place;
}

}  // namespace ringpost::sim::uverbs::gpu
