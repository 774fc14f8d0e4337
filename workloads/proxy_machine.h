// proxy_machine.h: a machine whose ranks post through a proxy each: the queue pairs of its NICs are
// rings, and workers of the ranks' hosts serve them while kernels run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/schema/config.h"
#include "transport/proxy/affinity.h"
#include "transport/proxy/proxy_nic.h"
#include "workloads/machine.h"
#include "workloads/outcome.h"

namespace ringpost::workloads {

class ProxyMachine final : public Machine {
 public:
  // Over `machine`, which outlives it. What is wrong with the cores is said in one line.
  ProxyMachine(Machine& machine, const config::Config& config, Outcome& outcome);

  uint32_t Ranks() const override { return machine_.Ranks(); }
  bool Owns(uint32_t rank) const override { return machine_.Owns(rank); }
  Nic& nic(uint32_t rank) override { return *proxies_[rank]; }
  proxy::ProxyNic& Proxy(uint32_t rank) { return *proxies_[rank]; }
  Result<std::vector<std::string>> Exchange(std::vector<std::string> mine,
                                            const std::string& what) override {
    return machine_.Exchange(std::move(mine), what);
  }
  void Abort(const std::string& reason) override { machine_.Abort(reason); }
  uint32_t WarpLanes(uint32_t threads_per_block) const override {
    return machine_.WarpLanes(threads_per_block);
  }
  uint64_t TimeoutPs() const override { return machine_.TimeoutPs(); }
  void Launch(uint32_t rank, const sim::LaunchShape& shape, const GpuGrid& grid,
              Kernels kernels) override {
    machine_.Launch(rank, shape, grid, std::move(kernels));
  }
  void Serve(uint32_t rank, uint32_t threads, Servers servers) override {
    machine_.Serve(rank, threads, std::move(servers));
  }
  std::string Run() override { return machine_.Run(); }
  void Poke(uint64_t address, const void* bytes, uint64_t size) override {
    machine_.Poke(address, bytes, size);
  }
  void Peek(uint64_t address, void* bytes, uint64_t size) override {
    machine_.Peek(address, bytes, size);
  }

 private:
  void ServeRank(uint32_t rank, std::vector<std::vector<uint32_t>> cores);

  Machine& machine_;
  std::vector<std::unique_ptr<proxy::ProxyNic>> proxies_;  // by rank; null where it is not here
};

}  // namespace ringpost::workloads
