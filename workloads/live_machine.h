// live_machine.h: host threads and NICs in real time, of software or hardware: all ranks as threads
// of this process, or one rank of a run of several processes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_nic.h"
#include "backends/real_time_nic.h"
#include "configs/schema/config.h"
#include "sim/cost/platform.h"
#include "transport/bootstrap/bootstrap.h"
#include "workloads/gpu.h"
#include "workloads/machine.h"
#include "workloads/run_options.h"

namespace ringpost::workloads {

class LiveMachine final : public Machine {
 public:
  static Result<std::unique_ptr<LiveMachine>> Make(const config::Config& config,
                                                   const sim::Platform& platform,
                                                   const RankOptions& ranks,
                                                   const GpuMaker& make_gpu);

  uint32_t Ranks() const override { return static_cast<uint32_t>(nics_.size()); }
  bool Owns(uint32_t rank) const override { return nics_[rank] != nullptr; }
  Nic& nic(uint32_t rank) override { return *nics_[rank]; }
  RealTimeNic& real_nic(uint32_t rank) { return *nics_[rank]; }
  // Of a rank that it owns; null: the rank's threads are the host's.
  const Gpu* gpu(uint32_t rank) const { return gpus_.empty() ? nullptr : gpus_[rank].get(); }
  Result<std::vector<std::string>> Exchange(std::vector<std::string> mine,
                                            const std::string& what) override;
  void Abort(const std::string& reason) override;
  // A host thread is a warp of its own.
  uint32_t WarpLanes(uint32_t threads_per_block) const override {
    return gpus_.empty() ? 1 : std::min(sim::kLanesPerWarp, threads_per_block);
  }
  uint64_t TimeoutPs() const override { return 30'000'000'000'000; }
  void Launch(uint32_t rank, const sim::LaunchShape& shape, const GpuGrid& grid,
              Kernels kernels) override;
  void Serve(uint32_t rank, uint32_t threads, Servers servers) override;
  std::string Run() override;
  void Poke(uint64_t address, const void* bytes, uint64_t size) override;
  void Peek(uint64_t address, void* bytes, uint64_t size) override;

 private:
  LiveMachine() = default;
  std::string Join(const config::Config& config, const RankOptions& ranks);
  std::string Introduce();
  std::string Open(const config::Config& config, const sim::Platform& platform, uint32_t rank,
                   const GpuMaker& make_gpu);
  std::string RunKernels();
  std::string RunThreads();
  std::string RunLaunches();
  void Move(uint64_t to, uint64_t from, uint64_t bytes);

  std::unique_ptr<bootstrap::Bootstrap> bootstrap_;  // null: all ranks are here
  uint32_t rank_ = 0;                                // with a bootstrap: the only one here
  std::vector<std::unique_ptr<Gpu>> gpus_;           // by rank, before the NICs; none: host threads
  std::vector<std::unique_ptr<RealTimeNic>> nics_;   // by rank; null: of another process
  std::vector<std::function<void(HostPort& port)>> servers_;
  std::vector<std::function<void(HostPort& port)>> bodies_;
  std::vector<std::unique_ptr<GpuLaunch>> launches_;
  std::string wrong_;  // of Poke or Peek
};

}  // namespace ringpost::workloads
