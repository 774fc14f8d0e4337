// process_dma.h: the NIC's function reaches this process's own memory.
//
// Only what Allow() named is touched: registered memory and queues. Other threads use that memory
// at the same time, so every access here is atomic, in pieces of 8 bytes where the address allows.
// Plain loads and stores of software are ordered with them by what software and NIC pass on: the
// doorbell record in one direction, CQEs and payload in the other.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/nic/dma.h"
#include "sim/service/access_guard.h"
#include "sim/service/allowed_ranges.h"
#include "sim/service/device_route.h"
#include "sim/service/present_pages.h"

namespace ringpost::sim::service {

class ProcessDma final : public Dma {
 public:
  // Who looks whether memory that is being allowed is a device's. False: it is one's that cannot be
  // reached; `device` stays null for memory of the host.
  using Reach = std::function<bool(uint64_t address, uint64_t bytes, DeviceAccess** device)>;
  void SetReach(Reach reach) { reach_ = std::move(reach); }

  // Ranges may overlap; each Allow() is undone by one Forbid() of the same range. False, and
  // nothing is allowed, where Reach has no way there.
  bool Allow(uint64_t address, uint64_t bytes);
  void Forbid(uint64_t address, uint64_t bytes);
  bool Allows(uint64_t address, uint64_t bytes) const;
  // On-demand paging: these pages may come and go. Each access makes its own present first, and is
  // refused where nothing is mapped. An access that runs while the program unmaps its pages is a
  // fault of the program's, as with registered memory.
  void AllowOnDemand(uint64_t address, uint64_t bytes);
  void ForbidOnDemand(uint64_t address, uint64_t bytes);
  // Memory of a GPU, say.
  DeviceRoute& Devices() { return devices_; }
  uint64_t Refused() const { return refused_; }  // accesses to other memory

  // From here on CQEs go there, until StoreCqe() writes them.
  using Gate = std::function<void(uint32_t qpn, uint64_t address, const void* cqe)>;
  void SetGate(Gate gate) { gate_ = std::move(gate); }
  bool StoreCqe(uint64_t address, const void* cqe);
  // Is shown each CQE that has been written.
  using Tap = std::function<void(const void* cqe)>;
  void SetTap(Tap tap) { tap_ = std::move(tap); }
  // CQEs carry the time at which they are written: nanoseconds of the steady clock. Off by default.
  void StampCqes() { stamps_ = true; }

  // Memory of the host may be unmapped while it is allowed: accesses to it are then refused, as to
  // memory that was never allowed. The calling thread is the one that makes them.
  void GuardAccesses() {
    AccessGuard::Install();
    AccessGuard::Unblock();
    guarded_ = true;
  }

  bool ReadRecord(uint32_t qpn, uint64_t address, uint32_t* word) override;
  bool Read(uint32_t qpn, uint64_t address, void* bytes, uint64_t size) override;
  void Consume(uint32_t, Purpose, uint64_t, uint64_t, uint64_t) override {}
  bool Write(uint32_t qpn, uint64_t address, const void* bytes, uint64_t size) override;
  bool WriteCqe(uint32_t qpn, uint64_t address, const void* cqe) override;
  bool Modify(uint32_t qpn, uint64_t address, uint32_t bytes, NextFn next, const void* context,
              uint64_t* original) override;

 private:
  bool Check(uint64_t address, uint64_t bytes, Use use) {
    if (Allows(address, bytes)) [[likely]]
      return true;
    if (FaultIn(address, bytes, use)) return true;
    ++refused_;
    return false;
  }
  bool FaultIn(uint64_t address, uint64_t bytes, Use use) const;
  bool PutCqe(uint64_t address, const uint8_t* cqe);
  // Runs `access`, which touches these bytes; false where they are not there.
  template <class Access>
  bool Touch(uint64_t address, uint64_t bytes, Access&& access) {
    if (!guarded_) [[likely]] {
      access();
      return true;
    }
    if (AccessGuard::Run(address, bytes, access)) return true;
    ++refused_;
    return false;
  }

  AllowedRanges ranges_;
  mutable AllowedRange last_;            // found last
  std::vector<AllowedRange> on_demand_;  // as given
  DeviceRoute devices_;
  Reach reach_;
  uint64_t refused_ = 0;
  Gate gate_;
  Tap tap_;
  bool stamps_ = false;
  bool guarded_ = false;
};

}  // namespace ringpost::sim::service
