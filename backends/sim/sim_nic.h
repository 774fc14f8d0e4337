// sim_nic.h: the cold half of a simulated NIC: queues in simulated memory, keys in its table.
#pragma once

#include <vector>

#include "backends/qp_objects.h"
#include "backends/sim/fabric.h"

namespace ringpost {

class Fabric::SimNic final : public Nic {
 public:
  SimNic(sim::NicNode& node, sim::Memory& memory, const sim::Faults& faults)
      : node_(node), memory_(memory), faults_(faults), pd_(node.Function().Keys().AllocatePd()) {}

  Result<RegisteredMemory> Allocate(Placement placement, uint64_t bytes) override;
  Result<QpAddress> CreateQp(const QpSpec& spec) override;
  Result<bool> Connect(const QpAddress& local, const QpAddress& peer) override;
  Result<QpView> View(const QpAddress& local) const override;
  Result<ReceiveView> Receives(const QpAddress& local) const override;
  // Those that a host thread rings.
  const std::vector<QpView>& RungByHost() const { return rung_by_host_; }

 private:
  struct Qp {
    QpViews views;
    QpObjects objects;
  };

  sim::Home HomeOf(Placement placement) const;
  // A zeroed array of `bytes` out of a pool with this home, aligned to 64 bytes.
  uint64_t Carve(sim::Home home, uint64_t bytes);
  void Place(const QpSpec& spec, QpViews& views);
  std::string MakeSink(QpView& view);
  Qp* Find(const QpAddress& local);
  const Qp* Find(const QpAddress& local) const;
  Error NotOurs(const QpAddress& local) const;
  void InjectErrorsOf(uint32_t qp_number, sim::QpContext& qp);

  struct Pool {
    sim::Home home;
    uint64_t next = 0;
    uint64_t end = 0;
  };

  sim::NicNode& node_;
  sim::Memory& memory_;
  const sim::Faults& faults_;
  uint32_t pd_;
  std::vector<Pool> pools_;
  uint32_t created_ = 0;
  std::vector<Qp> qps_;  // by QPN from the first one on; a DCT's place is empty
  std::vector<QpView> rung_by_host_;
  RegisteredMemory sinks_;
};

}  // namespace ringpost
