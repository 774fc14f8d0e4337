// live_put: what a put costs from a kernel to the live NIC, and how many of them it takes.
//
//   bazel run //bench/gpu:live_put
//
// One GPU as two ranks, each with a NIC of this process, whose threads spin on cores of their own.
// Payload and flags are in pinned host memory. Nothing is asserted: this is a measurement.
#include <cstdio>
#include <string>
#include <vector>

#include "backends/live/live_fabric.h"
#include "bench/gpu/live_put_kernels.h"
#include "transport/memory/cuda_memory.h"
#include "transport/memory/gpu_agent.h"

namespace ringpost::bench {
namespace {

constexpr uint64_t kTimeoutPs = 30'000'000'000'000;

double At(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

class LivePut {
 public:
  LivePut() {
    LiveNicOptions options;
    options.memory = &memory_;
    options.gpu_kernels = true;
    options.reach_gpu = [this] { return StartGpuAgent(0, memory_); };
    options.service.idle = sim::service::Idle::kSpin;
    auto made = LiveFabric::Make(2, options);
    if (!made.Ok()) {
      std::fprintf(stderr, "live_put: %s\n", made.Message().c_str());
      return;
    }
    fabric_ = std::move(made.Value());
  }
  bool Ok() const { return fabric_ != nullptr; }

  bool PrintPuts(const std::string& ordering, Placement placement) {
    const auto pair = Connect({.placement = placement, .timeout_ps = kTimeoutPs});
    const auto target = fabric_->nic(1).Allocate(Placement::kHost, 64);
    const LiveTimes times = TimePuts(ordering, pair.first, target.Value().Remote(0));
    if (!times.refusal.empty()) return Failed("put", ordering, times.refusal);
    std::printf(
        "put         %-15s %s rings: issue p50 %6.0f ns, put+completion p50 %6.0f p90 %6.0f "
        "p99 %6.0f ns (SM %.0f MHz)\n",
        ordering.c_str(), NameOf(placement), At(times.issue, 0.5), At(times.whole, 0.5),
        At(times.whole, 0.9), At(times.whole, 0.99), times.clock_mhz);
    return true;
  }

  bool PrintRoundTrips(const std::string& ordering, Placement placement) {
    const auto [first, second] = Connect({.placement = placement, .timeout_ps = kTimeoutPs});
    const auto a = fabric_->nic(0).Allocate(Placement::kHost, 64);
    const auto b = fabric_->nic(1).Allocate(Placement::kHost, 64);
    const LiveFlags ranks[2] = {{first, b.Value().Remote(0), a.Value().address},
                                {second, a.Value().Remote(0), b.Value().address}};
    const LiveTimes times = TimeRoundTrips(ordering, ranks);
    if (!times.refusal.empty()) return Failed("round trip", ordering, times.refusal);
    std::printf("round trip  %-15s %s rings: p50 %6.0f p90 %6.0f p99 %6.0f ns\n", ordering.c_str(),
                NameOf(placement), At(times.whole, 0.5), At(times.whole, 0.9),
                At(times.whole, 0.99));
    return true;
  }

  bool PrintRate(const std::string& publication, const std::string& ordering, Placement placement,
                 uint32_t qps, uint32_t puts) {
    std::vector<QpView> views;
    for (uint32_t i = 0; i < qps; ++i) {
      views.push_back(
          Connect({.placement = placement, .batch = 16, .timeout_ps = kTimeoutPs}).first);
    }
    const auto target = fabric_->nic(1).Allocate(Placement::kHost, 8 * qps);
    std::string refusal;
    const double rate =
        PutRate(publication, ordering, views, target.Value().Remote(0), puts, &refusal);
    if (!refusal.empty()) return Failed(publication, ordering, refusal);
    std::printf("%-11s %-15s %s rings: %2u QPs, %8.3f M/s\n", publication.c_str(), ordering.c_str(),
                NameOf(placement), qps, rate / 1e6);
    return true;
  }

 private:
  static const char* NameOf(Placement placement) {
    return placement == Placement::kHost ? "host" : "GPU ";
  }
  static bool Failed(const std::string& what, const std::string& ordering,
                     const std::string& refusal) {
    std::printf("%s %s failed: %s\n", what.c_str(), ordering.c_str(), refusal.c_str());
    return false;
  }
  std::pair<QpView, QpView> Connect(const QpSpec& spec) {
    return fabric_->ConnectPair(0, 1, spec).Value();
  }

  CudaMemory memory_{0};
  std::unique_ptr<LiveFabric> fabric_;
};

bool PrintAll(Placement placement, const std::vector<const char*>& orderings) {
  bool ok = true;
  for (const char* ordering : orderings) {
    LivePut bench;
    ok = bench.Ok() && bench.PrintPuts(ordering, placement) && ok;
    ok = bench.Ok() && bench.PrintRoundTrips(ordering, placement) && ok;
  }
  for (const uint32_t qps : {1u, 16u, 64u}) {
    LivePut bench;
    const uint32_t puts = placement == Placement::kHost ? 20000 : 4000;
    ok = bench.Ok() && bench.PrintRate("per_thread", "system_fence", placement, qps, puts) && ok;
    ok = bench.Ok() && bench.PrintRate("batched", "system_fence", placement, qps, puts) && ok;
  }
  return ok;
}

}  // namespace
}  // namespace ringpost::bench

int main() {
  using ringpost::Placement;
  const bool host = ringpost::bench::PrintAll(Placement::kHost, {"system_release", "system_fence"});
  const bool gpu = ringpost::bench::PrintAll(
      Placement::kGpu, {"gpu_fence", "gpu_release", "system_release", "system_fence"});
  return host && gpu ? 0 : 1;
}
