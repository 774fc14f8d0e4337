// proxy_nic.h: the cold half of a proxy: a Nic whose queue pairs are rings that workers of the host
// serve.
//
//   ProxyNic proxy(nic, {.workers = 2, .batch = 16});
//   const QpAddress ring = proxy.CreateQp(spec).Value();  // and Connect, View, as of any Nic
//   WorkerThreads threads(proxy, placement);              // before the first producer
//
// What CreateQp makes is a queue pair of `nic`, whose queues are in host memory, and a ring for it;
// the rings go to the workers in turn. View describes the ring, for Endpoints of Proxied<...>.
// `nic` must outlive it. No worker runs while CreateQp or Connect is called.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "transport/nic.h"
#include "transport/proxy/share.h"

namespace ringpost::proxy {

struct ProxySpec {
  uint32_t workers = 1;
  uint32_t batch = 1;                          // operations for one doorbell
  Placement counters = Placement::kHost;       // of `completed`, which producers wait for
  DoorbellMode doorbell = DoorbellMode::kGpu;  // how workers ring: kGpu or kBlueFlame
};

class ProxyNic final : public Nic {
 public:
  ProxyNic(Nic& nic, const ProxySpec& spec);

  Result<RegisteredMemory> Allocate(Placement placement, uint64_t bytes) override {
    return nic_.Allocate(placement, bytes);
  }
  // Depth is that of the worker's queue and, from 64 on, of the ring. Indices, batch and placement
  // of the spec do not count.
  Result<QpAddress> CreateQp(const QpSpec& spec) override;
  Result<bool> Connect(const QpAddress& local, const QpAddress& peer) override;
  Result<QpView> View(const QpAddress& local) const override;
  Result<ReceiveView> Receives(const QpAddress& local) const override {
    return nic_.Receives(local);
  }

  uint32_t Workers() const { return static_cast<uint32_t>(shares_.size()); }
  Share& ShareOf(uint32_t worker) { return shares_[worker]; }

 private:
  struct Place {
    uint32_t qpn = 0;
    uint32_t worker = 0;
    uint32_t ring = 0;
  };
  struct Pool {
    Placement placement;
    uint64_t next = 0;
    uint64_t end = 0;
  };
  struct Part {
    uint64_t* address;
    Placement placement;
    uint64_t bytes;
  };
  const Place* Find(const QpAddress& local) const;
  std::string MakeRing(const QpSpec& spec, QpView& ring);
  std::string MakeWords(QpView& qp);
  std::string CarveAll(const std::vector<Part>& parts);
  Result<uint64_t> Carve(Placement placement, uint64_t bytes);

  Nic& nic_;
  const ProxySpec spec_;
  std::deque<Share> shares_;  // by worker
  std::deque<Place> places_;
  Pool pools_[2] = {{Placement::kGpu}, {Placement::kHost}};
};

}  // namespace ringpost::proxy
