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
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backends/host_doorbells.h"
#include "backends/live/queue_memory.h"
#include "backends/qp_objects.h"
#include "backends/real_time_nic.h"
#include "sim/nic/qp_states.h"
#include "sim/service/fabric_segment.h"
#include "sim/service/nic_service.h"
#include "transport/device_access.h"
#include "transport/memory.h"
#include "transport/nic.h"

namespace ringpost {

namespace sim::service {
class UdpPort;
}

struct LiveNicOptions {
  std::string device = "live0";
  uint16_t lid = 1;
  sim::RnicConfig nic = {};
  sim::service::ServiceOptions service = {};
  // Where allocations come from, and who outlives the NIC; none: host memory, and no GPU's.
  MemoryProvider* memory = nullptr;
  // Placement::kGpu gets host memory: for kernels that are host threads.
  bool gpu_is_host = false;
  // Threads of a GPU post, whose memory is that of `memory`: the words that they alone use lie
  // there. Host memory of `memory` is mapped for them.
  bool gpu_kernels = false;
  // How the NIC's thread reaches GPU memory; none: with `gpu_kernels` everything that the NIC
  // touches must be in host memory. Called once.
  std::function<Result<std::unique_ptr<DeviceAccess>>()> reach_gpu = {};
  // What Connect() brings QPs up with, where it is not what sim::UsualAttributes says: PSNs and
  // timers, as other stacks choose them. Runs on the NIC's thread.
  std::function<void(sim::QpAttributes&)> adjust = {};
};

// Packets go as RoCEv2 frames in UDP datagrams, between machines. `lid` then names a GID.
struct UdpNicSpec {
  std::string address = "127.0.0.1";  // of this machine, where datagrams arrive
  uint16_t port = 0;                  // 0: the system chooses
};

struct LiveCounters {
  sim::RnicCounters nic;
  sim::service::LoopCounters loop;
  sim::service::PortCounters port;
  sim::service::WireFaultCounters faults;
  sim::service::PaceCounters pace;
};

class LiveNic final : public RealTimeNic {
 public:
  // The fabric must outlive it.
  static Result<std::unique_ptr<LiveNic>> Open(sim::service::FabricSegment& fabric,
                                               const LiveNicOptions& options);
  // The same on a fabric of its own, which it leaves when it ends.
  static Result<std::unique_ptr<LiveNic>> OpenOn(const sim::service::FabricSpec& fabric,
                                                 const LiveNicOptions& options);
  // RoCEv2: it reaches those NICs that it was told of by Meet().
  static Result<std::unique_ptr<LiveNic>> OpenUdp(const UdpNicSpec& udp,
                                                  const LiveNicOptions& options);
  ~LiveNic() override;

  Result<RegisteredMemory> Allocate(Placement placement, uint64_t bytes) override;
  Result<QpAddress> CreateQp(const QpSpec& spec) override;
  Result<bool> Connect(const QpAddress& local, const QpAddress& peer) override;
  Result<QpView> View(const QpAddress& local) const override;
  Result<ReceiveView> Receives(const QpAddress& local) const override;

  // Host memory of the caller's, until Deregister(); the key is lkey and rkey.
  Result<RegisteredMemory> Register(uint64_t address, uint64_t bytes);
  Result<bool> Deregister(const RegisteredMemory& memory);
  Result<bool> DestroyQp(const QpAddress& local);
  // The `wqe`-th WQE (from 0) fetched from this QP completes in error.
  Result<bool> InjectError(uint32_t qpn, uint64_t wqe, abi::Syndrome syndrome);

  // Where other NICs find this one, for their Meet(). In shared memory there is nothing to say.
  std::string Whereabouts() const override;
  Result<bool> Meet(const std::string& whereabouts) override;

  const LiveNicOptions& Options() const { return options_; }
  Result<LiveCounters> Counters();
  Result<std::vector<Count>> Counts() override;
  std::optional<Pacing> Paced() override;
  std::vector<Fact> Facts() const override;
  // Empty while its thread runs.
  std::string Failure() const override { return service_->Failure(); }

 private:
  struct Qp {
    QpViews views;
    QpObjects objects;
    QueueMemory memory;
  };

  LiveNic(const LiveNicOptions& options, MemoryProvider* memory,
          std::unique_ptr<MemoryProvider> own_memory);
  static Result<std::unique_ptr<LiveNic>> Start(std::unique_ptr<sim::service::PacketPort> port,
                                                uint8_t slot, const LiveNicOptions& options);
  Placement PlaceOf(Placement placement) const;
  // Whether the NIC's thread goes through the GPU to what is placed there.
  bool ThroughGpu(Placement placement) const {
    return options_.gpu_kernels && PlaceOf(placement) == Placement::kGpu;
  }
  std::string Unreachable(Placement placement) const;
  Result<RegisteredMemory> RegisterAt(uint64_t address, uint64_t bytes, Placement placement);
  void Allow(sim::service::NicLoop& loop, uint64_t address, uint64_t bytes, Placement placement);
  std::string Make(sim::service::NicLoop& loop, Qp& qp);
  static void Destroy(sim::service::NicLoop& loop, const Qp& qp);
  Result<Qp> Find(const QpAddress& local) const;
  std::string NotOurs(const QpAddress& address) const;

  const LiveNicOptions options_;
  std::unique_ptr<MemoryProvider> own_memory_;
  std::unique_ptr<sim::service::FabricSegment> own_fabric_;
  MemoryProvider& memory_;
  uint32_t pd_ = 0;
  sim::service::UdpPort* udp_ = nullptr;  // the service's, on whose thread alone it is used
  UdpNicSpec udp_spec_;
  mutable std::mutex mutex_;
  std::map<uint32_t, Qp> qps_;  // by QPN; guarded by mutex_
  std::unique_ptr<DeviceAccess> gpu_;
  // Its thread uses memory, GPU and fabric.
  std::unique_ptr<sim::service::NicService> service_;
  HostDoorbells bells_;  // last: its thread uses all of them
};

}  // namespace ringpost
