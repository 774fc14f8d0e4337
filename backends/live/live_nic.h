// live_nic.h: a software NIC in real time over this process's memory, with a thread of its own.
//
//   auto fabric = sim::service::FabricSegment::Open({.name = "mine"});
//   auto nic = LiveNic::Open(*fabric.Value(), {});
//   auto qp = nic.Value()->CreateQp({.placement = Placement::kHost});
//   ... exchange QpAddress with the peer ... nic.Value()->Connect(qp.Value(), peer);
//
// A QpAddress's node is the LID of the peer's device. All NICs of a machine may use one device, as
// each is a slot of its own. Any thread may call anything.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backends/live/host_doorbells.h"
#include "backends/qp_objects.h"
#include "sim/service/fabric_segment.h"
#include "sim/service/nic_service.h"
#include "transport/memory.h"
#include "transport/nic.h"

namespace ringpost {

struct LiveNicOptions {
  std::string device = "live0";
  uint16_t lid = 1;
  sim::RnicConfig nic = {};
  sim::service::ServiceOptions service = {};
  // Where allocations come from, and who outlives the NIC; none: host memory, and no GPU's.
  MemoryProvider* memory = nullptr;
  // Placement::kGpu gets host memory: for kernels that are host threads.
  bool gpu_is_host = false;
};

struct LiveCounters {
  sim::RnicCounters nic;
  sim::service::LoopCounters loop;
  sim::service::PortCounters port;
};

class LiveNic final : public Nic {
 public:
  // The fabric must outlive it.
  static Result<std::unique_ptr<LiveNic>> Open(sim::service::FabricSegment& fabric,
                                               const LiveNicOptions& options);
  // The same on a fabric of its own, which it leaves when it ends.
  static Result<std::unique_ptr<LiveNic>> OpenOn(const sim::service::FabricSpec& fabric,
                                                 const LiveNicOptions& options);
  ~LiveNic() override;

  Result<RegisteredMemory> Allocate(Placement placement, uint64_t bytes) override;
  Result<QpAddress> CreateQp(const QpSpec& spec) override;
  Result<bool> Connect(const QpAddress& local, const QpAddress& peer) override;
  Result<QpView> View(const QpAddress& local) const override;
  Result<ReceiveView> Receives(const QpAddress& local) const override;

  // Memory of the caller's, until Deregister(); the key is lkey and rkey.
  Result<RegisteredMemory> Register(uint64_t address, uint64_t bytes);
  Result<bool> Deregister(const RegisteredMemory& memory);
  Result<bool> DestroyQp(const QpAddress& local);
  // The `wqe`-th WQE (from 0) fetched from this QP completes in error.
  Result<bool> InjectError(uint32_t qpn, uint64_t wqe, abi::Syndrome syndrome);

  Result<LiveCounters> Counters();
  // Empty while its thread runs.
  std::string Failure() const { return service_->Failure(); }

 private:
  struct Qp {
    QpViews views;
    QpObjects objects;
    Allocation memory;
    Allocation producer;  // doorbell mode cpu
  };

  LiveNic(const LiveNicOptions& options, MemoryProvider* memory,
          std::unique_ptr<MemoryProvider> own_memory);
  Result<Allocation> TakeMemory(Placement placement, uint64_t bytes);
  std::string Place(const QpSpec& spec, Qp& qp);
  std::string Make(sim::service::NicLoop& loop, Qp& qp);
  static void Destroy(sim::service::NicLoop& loop, const Qp& qp);
  Result<Qp> Find(const QpAddress& local) const;
  std::string NotOurs(const QpAddress& address) const;

  const LiveNicOptions options_;
  std::unique_ptr<MemoryProvider> own_memory_;
  std::unique_ptr<sim::service::FabricSegment> own_fabric_;
  MemoryProvider& memory_;
  uint32_t pd_ = 0;
  mutable std::mutex mutex_;
  std::map<uint32_t, Qp> qps_;  // by QPN; guarded by mutex_
  // Its thread uses memory and fabric.
  std::unique_ptr<sim::service::NicService> service_;
  HostDoorbells bells_;  // last: its thread uses all of them
};

}  // namespace ringpost
