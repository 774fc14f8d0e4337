// gpu_array.h: objects in GPU memory, as the host gives them or fetches them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/memory.h"
#include "workloads/gpu.h"

namespace ringpost::workloads {

// The GPU outlives it. Zeroed, or copies.
template <class T>
class GpuArray {
 public:
  GpuArray(Gpu& gpu, size_t count) : memory_(gpu.Memory()), count_(count) {
    auto made = memory_.Allocate(Placement::kGpu, std::max<uint64_t>(1, Bytes()));
    if (made.Ok()) {
      allocation_ = made.Value();
    } else {
      wrong_ = made.Message();
    }
  }
  GpuArray(Gpu& gpu, const std::vector<T>& objects) : GpuArray(gpu, objects.size()) {
    if (wrong_.empty() && Bytes() != 0) {
      Copy(allocation_.address, reinterpret_cast<uint64_t>(objects.data()));
    }
  }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
  ~GpuArray() {
    if (allocation_.bytes != 0) memory_.Free(allocation_);
  }

  T* There() const { return reinterpret_cast<T*>(allocation_.address); }
  const std::string& Wrong() const { return wrong_; }
  // Nothing where that fails: Wrong() says why.
  std::vector<T> Fetch() {
    std::vector<T> objects(count_);
    if (count_ != 0) Copy(reinterpret_cast<uint64_t>(objects.data()), allocation_.address);
    if (!wrong_.empty()) objects.clear();
    return objects;
  }

 private:
  uint64_t Bytes() const { return count_ * sizeof(T); }
  void Copy(uint64_t to, uint64_t from) {
    const Result<bool> copied = memory_.Copy(to, from, Bytes());
    if (!copied.Ok()) wrong_ = copied.Message();
  }

  MemoryProvider& memory_;
  const size_t count_;
  Allocation allocation_{0, 0, Placement::kGpu};
  std::string wrong_;
};

}  // namespace ringpost::workloads
