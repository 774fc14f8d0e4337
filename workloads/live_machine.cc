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
                                                       const RankOptions& ranks) {
  std::unique_ptr<LiveMachine> machine(new LiveMachine());
  machine->nics_.resize(config.ranks);
  std::string wrong;
  if (!ranks.rendezvous.empty()) wrong = machine->Join(config, ranks);
  for (uint32_t rank = 0; rank < config.ranks && wrong.empty(); ++rank) {
    if (machine->bootstrap_ != nullptr && rank != machine->rank_) continue;
    auto nic = MakeRealTimeNic(config, platform, rank);
    if (nic.Ok()) {
      machine->nics_[rank] = std::move(nic.Value());
    } else {
      wrong = nic.Message();
      machine->Abort(wrong);
    }
  }
  if (wrong.empty()) wrong = machine->Introduce();
  if (!wrong.empty()) return Error{wrong};
  return machine;
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

void LiveMachine::Launch(uint32_t, const sim::LaunchShape& shape, Kernels kernels) {
  for (uint32_t thread = 0; thread < shape.threads; ++thread) {
    bodies_.push_back([live = kernels.live, thread](HostPort& port) { live(port, thread); });
  }
}

std::string LiveMachine::Run() {
  const std::string wrong = RunThreads();
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

void LiveMachine::Poke(uint64_t address, const void* bytes, uint64_t size) {
  if (size != 0) std::memcpy(reinterpret_cast<void*>(address), bytes, size);
}

void LiveMachine::Peek(uint64_t address, void* bytes, uint64_t size) {
  if (size != 0) std::memcpy(bytes, reinterpret_cast<const void*>(address), size);
}

}  // namespace ringpost::workloads
