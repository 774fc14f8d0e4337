// devx.h: what the kernel's mlx5 driver adds between a program and the firmware: which command may
// come by which method, whose object it is about, and where memory is.
//
//   Devx devx(firmware, dmabuf);
//   const int error = devx.Create(in, out, &handle);   // 0, or an errno
//
// EREMOTEIO, or EOPNOTSUPP for a key that UMR changes: the firmware refused, and `out` has its
// status and syndrome. All on the NIC's thread.
// The end of a Devx destroys its objects, as the end of the file does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "sim/service/present_pages.h"
#include "sim/uverbs/prm/firmware.h"

namespace ringpost::sim::uverbs::prm {

struct MemoryRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// The attributes of umem registration. `address` is an offset where there is a dma-buf.
struct UmemRequest {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t access = 0;  // IB_ACCESS_*
  std::optional<uint64_t> page_sizes = std::nullopt;
  std::optional<int> dmabuf = std::nullopt;
};

class Devx {
 public:
  // Where the memory behind a descriptor is in this process, for as long as `memory` is held. 0, or
  // an errno: EBADF for a descriptor that is no dma-buf of ours.
  using Memory = std::shared_ptr<const MemoryRange>;
  using Dmabuf = std::function<int(int file, Memory* memory)>;
  // Whether there is such memory, of the host or of a device.
  using Present = std::function<bool(uint64_t address, uint64_t bytes, service::Use use)>;

  // If the firmware has no room for another user, every call answers EINVAL.
  Devx(Firmware& firmware, Dmabuf dmabuf, Present present = service::MakePresent)
      : firmware_(firmware),
        dmabuf_(std::move(dmabuf)),
        present_(std::move(present)),
        uid_(firmware.Open()) {}
  Devx(const Devx&) = delete;
  Devx& operator=(const Devx&) = delete;
  ~Devx() {
    if (uid_ != 0) firmware_.Close(uid_);
  }

  uint16_t Uid() const { return uid_; }

  int General(std::span<const uint8_t> in, std::span<uint8_t> out);
  int Create(std::span<const uint8_t> in, std::span<uint8_t> out, uint32_t* handle);
  int Modify(uint32_t handle, std::span<const uint8_t> in, std::span<uint8_t> out);
  int Query(uint32_t handle, std::span<const uint8_t> in, std::span<uint8_t> out);
  int Destroy(uint32_t handle);
  int RegisterUmem(const UmemRequest& request, uint32_t* handle, uint32_t* number);
  int DeregisterUmem(uint32_t handle);
  int QueryEqn(uint32_t vector, uint32_t* eqn) const;

 private:
  struct Made {
    Opcode creator;
    uint32_t number;
  };
  int Forward(std::span<const uint8_t> in, std::span<uint8_t> out);
  int OnObject(Verb verb, uint32_t handle, std::span<const uint8_t> in, std::span<uint8_t> out);
  Refusal Run(Opcode opcode, uint32_t number);
  int Locate(const UmemRequest& request, MemoryRange* range, Memory* memory) const;

  Firmware& firmware_;
  const Dmabuf dmabuf_;
  const Present present_;
  const uint16_t uid_;
  uint32_t next_handle_ = 1;
  std::map<uint32_t, Made> objects_;  // by handle
  struct Registered {
    uint32_t number;
    Memory memory;  // a dma-buf's
  };
  std::map<uint32_t, Registered> umems_;  // by handle
};

// The largest page size of `page_sizes` that the driver gives such a umem; 0 if there is none.
uint64_t UmemPageSize(const MemoryRange& range, uint64_t page_sizes);

}  // namespace ringpost::sim::uverbs::prm
