#include "backends/mlx5/memory_access.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "backends/mlx5/failure.h"

namespace ringpost::mlx5 {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

uint64_t At(const void* address) { return reinterpret_cast<uint64_t>(address); }

}  // namespace

MemoryAccess::~MemoryAccess() {
  for (const auto& [page, mapped] : mapped_) provider_.Unmap(reinterpret_cast<void*>(page));
}

void MemoryAccess::WarnOnce(const std::string& about, const std::string& line) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!warned_.insert(about).second) return;
  }
  if (warn_) warn_(line);
}

Result<OwnedMemory> MemoryAccess::Allocate(Placement placement, uint64_t bytes) {
  const Result<Allocation> memory = provider_.Allocate(placement, bytes);
  if (!memory.Ok()) return Error{device_.Name() + ": " + memory.Message()};
  return OwnedMemory(provider_, memory.Value());
}

template <class T>
Result<T> MemoryAccess::ByEitherWay(const Allocation& memory,
                                    const std::function<T(const DmaBuf&)>& by_dma_buf,
                                    const std::function<T()>& by_address, const char* calls[2]) {
  const auto named = [&](const char* call) {
    return fmt::format("{} of {} bytes at {:#x}", call, memory.bytes, memory.address);
  };
  std::string first;
  if (memory.placement == Placement::kGpu) {
    const Result<DmaBuf> dma_buf = provider_.ExportDmaBuf(memory);
    if (dma_buf.Ok()) {
      T made = by_dma_buf(dma_buf.Value());
      const int error = errno;
      close(dma_buf.Value().file);
      if (made != nullptr) return made;
      first = CallFailed(device_.Name(), named(calls[0]), error).message;
    } else {
      first = fmt::format("{}: no dma-buf of {} bytes at {:#x}: {}", device_.Name(), memory.bytes,
                          memory.address, dma_buf.Message());
    }
  }
  T made = by_address();
  const int error = errno;
  if (made != nullptr && first.empty()) return made;
  if (made != nullptr) {
    WarnOnce("dma-buf", first + "; GPU memory goes through peer memory instead");
    return made;
  }
  const std::string second = CallFailed(device_.Name(), named(calls[1]), error).message;
  return Error{first.empty() ? second : first + "; and by its address: " + second};
}

Result<Mr> MemoryAccess::Register(const Allocation& memory) {
  const char* calls[2] = {"ibv_reg_dmabuf_mr", "ibv_reg_mr"};
  return ByEitherWay<Mr>(
      memory,
      [&](const DmaBuf& dma_buf) {
        return Mr(ibv_reg_dmabuf_mr(device_.pd(), dma_buf.offset, memory.bytes, memory.address,
                                    dma_buf.file, kAllAccess));
      },
      [&] {
        return Mr(ibv_reg_mr(device_.pd(), reinterpret_cast<void*>(memory.address), memory.bytes,
                             kAllAccess));
      },
      calls);
}

Result<Umem> MemoryAccess::RegisterUmem(const Allocation& memory) {
  const char* calls[2] = {"mlx5dv_devx_umem_reg_ex (dmabuf)", "mlx5dv_devx_umem_reg"};
  return ByEitherWay<Umem>(
      memory,
      [&](const DmaBuf& dma_buf) {
        mlx5dv_devx_umem_in in = {};
        in.addr = reinterpret_cast<void*>(dma_buf.offset);
        in.size = memory.bytes;
        in.access = IBV_ACCESS_LOCAL_WRITE;
        in.pgsz_bitmap = ~(kPageBytes - 1);
        in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
        in.dmabuf_fd = dma_buf.file;
        return Umem(mlx5dv_devx_umem_reg_ex(device_.context(), &in));
      },
      [&] {
        return Umem(mlx5dv_devx_umem_reg(device_.context(), reinterpret_cast<void*>(memory.address),
                                         memory.bytes, IBV_ACCESS_LOCAL_WRITE));
      },
      calls);
}

Result<uint64_t> MemoryAccess::MapAs(const void* begin, uint64_t bytes, Mapping mapping) {
  const uint64_t page = At(begin) & ~(kPageBytes - 1);
  const uint64_t end = (At(begin) + bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = mapped_.find(page);
  if (found != mapped_.end() && end - page <= found->second.bytes) {
    return found->second.address + (At(begin) - page);
  }
  const Result<uint64_t> address =
      provider_.Map(reinterpret_cast<void*>(page), end - page, mapping);
  if (!address.Ok()) return Error{address.Message()};
  mapped_[page] = {end - page, address.Value()};
  return address.Value() + (At(begin) - page);
}

Result<uint64_t> MemoryAccess::MapPages(const void* begin, uint64_t bytes) {
  const Result<uint64_t> address = MapAs(begin, bytes, Mapping::kMemory);
  if (address.Ok()) return address;
  return Error{fmt::format("{}: {} bytes of its queues at {} cannot be mapped for the GPU: {}",
                           device_.Name(), bytes, begin, address.Message())};
}

Result<uint64_t> MemoryAccess::MapRegister(const void* address) {
  const Result<uint64_t> registers = MapAs(address, sizeof(uint64_t), Mapping::kRegisters);
  if (registers.Ok()) return registers;
  const Result<uint64_t> memory = MapAs(address, sizeof(uint64_t), Mapping::kMemory);
  if (memory.Ok()) return memory;
  return Error{
      fmt::format("{}: the GPU cannot map the doorbell page: as I/O memory: {}; as "
                  "ordinary memory: {}; load NVIDIA's module with "
                  "PeerMappingOverride=1 and allow it to this user, or use "
                  "transport.doorbell: cpu or auto",
                  device_.Name(), registers.Message(), memory.Message())};
}

}  // namespace ringpost::mlx5
