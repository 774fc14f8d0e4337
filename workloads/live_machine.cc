#include "workloads/live_machine.h"

#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "transport/host_warp.h"
#include "workloads/setup.h"

namespace ringpost::workloads {
namespace {

constexpr std::chrono::seconds kJoinDeadline{30};
// A rank that is lost is noticed at once; one that computes for long is waited for.
constexpr std::chrono::hours kStepDeadline{24 * 365};

}  // namespace

Result<std::unique_ptr<LiveMachine>> LiveMachine::Make(const config::Config& config,
                                                       const sim::Platform& platform,
                                                       const RankOptions& ranks,
                                                       const GpuMaker& make_gpu) {
  std::unique_ptr<LiveMachine> machine(new LiveMachine());
  machine->nics_.resize(config.ranks);
  std::string wrong;
  if (!ranks.rendezvous.empty()) wrong = machine->Join(config, ranks);
  for (uint32_t rank = 0; rank < config.ranks && wrong.empty(); ++rank) {
    if (machine->bootstrap_ != nullptr && rank != machine->rank_) continue;
    wrong = machine->Open(config, platform, rank, make_gpu);
    if (!wrong.empty()) machine->Abort(wrong);
  }
  if (wrong.empty()) wrong = machine->Introduce();
  if (!wrong.empty()) return Error{wrong};
  return machine;
}

std::string LiveMachine::Open(const config::Config& config, const sim::Platform& platform,
                              uint32_t rank, const GpuMaker& make_gpu) {
  GpuSide side;
  if (config::RunsKernels(config)) {
    auto gpu = make_gpu(rank);
    if (!gpu.Ok()) return gpu.Message();
    gpus_.resize(config.ranks);
    gpus_[rank] = std::move(gpu.Value());
    side.memory = &gpus_[rank]->Memory();
    side.reach = [gpu = gpus_[rank].get()] { return gpu->Reach(); };
  }
  auto nic = MakeRealTimeNic(config, platform, rank, side);
  if (!nic.Ok()) return nic.Message();
  nics_[rank] = std::move(nic.Value());
  return {};
}

std::string LiveMachine::Join(const config::Config& config, const RankOptions& ranks) {
  bootstrap::BootstrapSpec spec;
  spec.rendezvous = ranks.rendezvous;
  spec.rank = rank_ = ranks.rank;
  spec.ranks = static_cast<uint32_t>(config.ranks);
  spec.nic = std::string(NameOf(config.backend)) + " NIC";
  spec.deadline = kJoinDeadline;
  spec.listening = ranks.listening;
  auto joined = bootstrap::Bootstrap::Join(spec);
  if (!joined.Ok()) return joined.Message();
  bootstrap_ = std::move(joined.Value());
  bootstrap_->SetDeadline(kStepDeadline);
  return {};
}

// Each NIC learns where the others are.
std::string LiveMachine::Introduce() {
  std::vector<std::string> mine(Ranks());
  for (uint32_t rank = 0; rank < Ranks(); ++rank) {
    if (Owns(rank)) mine[rank] = nics_[rank]->Whereabouts();
  }
  const auto places = Exchange(std::move(mine), "addresses of NICs");
  if (!places.Ok()) return places.Message();
  for (uint32_t rank = 0; rank < Ranks(); ++rank) {
    for (uint32_t peer = 0; peer < Ranks() && Owns(rank); ++peer) {
      const Result<bool> met = nics_[rank]->Meet(places.Value()[peer]);
      if (met.Ok()) continue;
      Abort(met.Message());
      return met.Message();
    }
  }
  return {};
}

Result<std::vector<std::string>> LiveMachine::Exchange(std::vector<std::string> mine,
                                                       const std::string& what) {
  if (bootstrap_ == nullptr) return mine;
  return bootstrap_->Exchange(mine[rank_], what);
}

void LiveMachine::Abort(const std::string& reason) {
  if (bootstrap_ != nullptr) bootstrap_->Abort(reason);
}

void LiveMachine::Launch(uint32_t rank, const sim::LaunchShape& shape, const GpuGrid& grid,
                         Kernels kernels) {
  if (!gpus_.empty()) {
    launches_.push_back(kernels.gpu(*gpus_[rank], grid));
    return;
  }
  for (uint32_t thread = 0; thread < shape.threads; ++thread) {
    bodies_.push_back([live = kernels.live, thread](HostPort& port) { live(port, thread); });
  }
}

void LiveMachine::Serve(uint32_t, uint32_t threads, Servers servers) {
  for (uint32_t i = 0; i < threads; ++i) {
    servers_.push_back([live = servers.live, i](HostPort& port) { live(port, i); });
  }
}

// Beside them, from before the first to behind the last, the threads that serve.
std::string LiveMachine::RunKernels() {
  std::atomic<bool> stop{false};
  std::vector<std::thread> serving;
  std::string wrong;
  try {
    for (const auto& serve : servers_) {
      serving.emplace_back([&serve, &stop] {
        HostWarp warp(/*lanes=*/1);
        HostPort port(warp, /*lane=*/0, &stop);
        serve(port);
      });
    }
  } catch (const std::exception& error) {
    wrong = std::string("the system has no more threads: ") + error.what();
  }
  if (wrong.empty()) wrong = RunLaunches();
  if (wrong.empty()) wrong = RunThreads();
  stop = true;
  for (std::thread& thread : serving) thread.join();
  return wrong;
}

std::string LiveMachine::Run() {
  const std::string wrong = wrong_.empty() ? RunKernels() : wrong_;
  if (!wrong.empty()) {
    Abort(wrong);
    return wrong;
  }
  if (bootstrap_ == nullptr) return {};
  const Result<bool> met = bootstrap_->Barrier("the end of all kernels");
  return met.Ok() ? "" : met.Message();
}

// Threads begin together, so that what they do at the same time is measured.
std::string LiveMachine::RunThreads() {
  std::atomic<bool> begin{false};
  std::vector<std::thread> threads;
  std::string wrong;
  try {
    for (const auto& body : bodies_) {
      threads.emplace_back([&body, &begin] {
        // Ordered by the creation of the thread; the flag itself passes nothing on.
        while (!begin.load(std::memory_order_relaxed)) std::this_thread::yield();
        HostWarp warp(/*lanes=*/1);
        HostPort port(warp, /*lane=*/0);
        body(port);
      });
    }
  } catch (const std::exception& error) {
    wrong = std::string("the system has no more threads: ") + error.what();
  }
  begin.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads) thread.join();
  bodies_.clear();
  for (uint32_t rank = 0; rank < Ranks() && wrong.empty(); ++rank) {
    if (Owns(rank)) wrong = nics_[rank]->Failure();
  }
  return wrong;
}

// All are under way before one is waited for. One that was started is also waited for.
std::string LiveMachine::RunLaunches() {
  std::string wrong;
  size_t started = 0;
  for (; started < launches_.size() && wrong.empty(); ++started) {
    wrong = launches_[started]->Start();
    if (!wrong.empty()) break;
  }
  for (size_t i = 0; i < started; ++i) {
    const std::string failed = launches_[i]->Finish();
    if (wrong.empty()) wrong = failed;
  }
  launches_.clear();
  return wrong;
}

void LiveMachine::Move(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0) return;
  for (const auto& gpu : gpus_) {
    if (gpu == nullptr) continue;
    const Result<bool> copied = gpu->Memory().Copy(to, from, bytes);
    if (!copied.Ok()) wrong_ = copied.Message();
    return;
  }
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
}

void LiveMachine::Poke(uint64_t address, const void* bytes, uint64_t size) {
  Move(address, reinterpret_cast<uint64_t>(bytes), size);
}

void LiveMachine::Peek(uint64_t address, void* bytes, uint64_t size) {
  Move(reinterpret_cast<uint64_t>(bytes), address, size);
}

}  // namespace ringpost::workloads
