// sim_machine.h: a Fabric, as workloads see it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "workloads/machine.h"

namespace ringpost::workloads {

class SimMachine final : public Machine {
 public:
  explicit SimMachine(Fabric& fabric) : fabric_(fabric) {}

  uint32_t Ranks() const override { return fabric_.Nodes(); }
  bool Owns(uint32_t) const override { return true; }
  Nic& nic(uint32_t rank) override { return fabric_.nic(rank); }
  Result<std::vector<std::string>> Exchange(std::vector<std::string> mine,
                                            const std::string&) override {
    return mine;
  }
  void Abort(const std::string&) override {}
  uint32_t WarpLanes(uint32_t threads_per_block) const override {
    return std::min(sim::kLanesPerWarp, threads_per_block);
  }
  uint64_t TimeoutPs() const override { return 0; }
  void Launch(uint32_t rank, const sim::LaunchShape& shape, const GpuGrid&,
              Kernels kernels) override {
    fabric_.Launch(rank, shape, std::move(kernels.simulated));
  }
  void Serve(uint32_t rank, uint32_t threads, Servers servers) override {
    fabric_.ServeOnHost(rank, threads, [serve = std::move(servers.simulated)](SimHostPort& port) {
      serve(port, port.ThreadIndex());
    });
  }
  std::string Run() override { return fabric_.Run().error; }
  void Poke(uint64_t address, const void* bytes, uint64_t size) override {
    fabric_.Poke(address, bytes, size);
  }
  void Peek(uint64_t address, void* bytes, uint64_t size) override {
    fabric_.Peek(address, bytes, size);
  }

 private:
  Fabric& fabric_;
};

}  // namespace ringpost::workloads
