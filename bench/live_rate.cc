// live_rate: how many messages a second a live NIC moves: 8-byte inline puts, and one thread that
// polls for completions, beside the NIC's own.
//
//   bazel run //bench:live_rate
//
// One item is one put that has completed, i.e. is placed at its target and acknowledged. On a
// machine with fewer free cores than threads (three in one process, four in two) the system's
// scheduler is measured as well.

#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/live/live_fabric.h"
#include "transport/endpoint.h"
#include "transport/host_port.h"
#include "transport/host_warp.h"
#include "transport/publication/batched.h"

namespace ringpost::bench {
namespace {

using PutEndpoint = Endpoint<HostPort, Batched, OrderSystemFence>;

constexpr int kPuts = 4096;  // of an iteration, over all QPs
constexpr uint64_t kTimeoutPs = 30'000'000'000'000;
constexpr QpSpec kSpec{
    .depth_wqebbs = 1024, .placement = Placement::kHost, .batch = 32, .timeout_ps = kTimeoutPs};

// Puts on all QPs in turn, a batch each, then waits for all.
void PutMany(benchmark::State& state, const std::vector<QpView>& qps, RemoteSpan target) {
  HostWarp warp(1);
  HostPort port(warp, 0);
  std::deque<PutEndpoint> endpoints;  // which are not moved
  for (const QpView& qp : qps) endpoints.emplace_back(port, QpTable{&qp, 1, 0, 1, 0});
  for (auto _ : state) {
    bool ok = true;
    for (int i = 0; i < kPuts; i += static_cast<int>(kSpec.batch)) {
      PutEndpoint& endpoint = endpoints[i / kSpec.batch % endpoints.size()];
      for (uint32_t j = 0; j < kSpec.batch; ++j) {
        const uint64_t value = static_cast<uint64_t>(i) + j;
        ok &= endpoint.PutInline(target, &value, sizeof(value)).status.Ok();
      }
    }
    for (PutEndpoint& endpoint : endpoints) {
      ok &= endpoint.Quiet(CompletionScope::kSelectedQp).Ok();
    }
    if (!ok) return state.SkipWithError("a put has failed");
  }
  state.SetItemsProcessed(state.iterations() * kPuts);
}

void InProcess(benchmark::State& state) {
  auto fabric = LiveFabric::Make(2);
  if (!fabric.Ok()) return state.SkipWithError(fabric.Message().c_str());
  LiveFabric& machine = *fabric.Value();
  std::vector<QpView> qps;
  for (int64_t i = 0; i < state.range(0); ++i) {
    qps.push_back(machine.ConnectPair(0, 1, kSpec).Value().first);
  }
  const auto target = machine.nic(1).Allocate(Placement::kHost, 64);
  PutMany(state, qps, target.Value().Remote(0));
}
BENCHMARK(InProcess)->ArgName("qps")->Arg(1)->Arg(16)->UseRealTime();

// One NIC that sends to itself: all of a message's work on one NIC thread.
void Loopback(benchmark::State& state) {
  auto fabric = LiveFabric::Make(1);
  if (!fabric.Ok()) return state.SkipWithError(fabric.Message().c_str());
  LiveFabric& machine = *fabric.Value();
  std::vector<QpView> qps;
  for (int64_t i = 0; i < state.range(0); ++i) {
    qps.push_back(machine.ConnectPair(0, 0, kSpec).Value().first);
  }
  const auto target = machine.nic(0).Allocate(Placement::kHost, 64);
  PutMany(state, qps, target.Value().Remote(0));
}
BENCHMARK(Loopback)->ArgName("qps")->Arg(1)->Arg(16)->UseRealTime();

// What the two processes tell each other.
struct Meeting {
  std::atomic<int> stage{0};
  QpAddress sender[64];
  QpAddress receiver[64];
  RemoteSpan target;
  void Await(int wanted) const {
    while (stage.load(std::memory_order_acquire) < wanted) std::this_thread::yield();
  }
};

std::unique_ptr<LiveNic> OpenOn(sim::service::FabricSegment& fabric) {
  return std::move(LiveNic::Open(fabric, {}).Value());
}

[[noreturn]] void BeReceiver(const sim::service::FabricSpec& spec, Meeting& meeting, int64_t qps) {
  const auto fabric = std::move(sim::service::FabricSegment::Open(spec).Value());
  const auto nic = OpenOn(*fabric);
  meeting.target = nic->Allocate(Placement::kHost, 64).Value().Remote(0);
  for (int64_t i = 0; i < qps; ++i) meeting.receiver[i] = nic->CreateQp(kSpec).Value();
  meeting.Await(1);
  for (int64_t i = 0; i < qps; ++i) {
    if (!nic->Connect(meeting.receiver[i], meeting.sender[i]).Ok()) _exit(1);
  }
  meeting.stage.store(2, std::memory_order_release);
  for (;;) pause();
}

void CrossProcess(benchmark::State& state) {
  const sim::service::FabricSpec spec{.name = "live_rate." + std::to_string(getpid())};
  void* memory =
      mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return state.SkipWithError("no shared memory");
  Meeting& meeting = *new (memory) Meeting();
  const pid_t child = fork();
  if (child == 0) BeReceiver(spec, meeting, state.range(0));
  {
    const auto fabric = std::move(sim::service::FabricSegment::Open(spec).Value());
    const auto nic = OpenOn(*fabric);
    std::vector<QpView> qps;
    for (int64_t i = 0; i < state.range(0); ++i) {
      meeting.sender[i] = nic->CreateQp(kSpec).Value();
    }
    meeting.stage.store(1, std::memory_order_release);
    meeting.Await(2);
    for (int64_t i = 0; i < state.range(0); ++i) {
      if (!nic->Connect(meeting.sender[i], meeting.receiver[i]).Ok()) break;
      qps.push_back(nic->View(meeting.sender[i]).Value());
    }
    PutMany(state, qps, meeting.target);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  munmap(memory, sizeof(Meeting));
}
BENCHMARK(CrossProcess)->ArgName("qps")->Arg(1)->Arg(16)->UseRealTime();

}  // namespace
}  // namespace ringpost::bench

BENCHMARK_MAIN();
