#include "configs/schema/proxy_checks.h"

#include <fmt/format.h>

#include <string>

#include "transport/proxy/affinity.h"

namespace ringpost::config {
namespace {

using Found = std::optional<Conflict>;

// What says how a thread posts is of the direct path: no run is taken for another.
Found CheckUnused(const Config& config) {
  static const Config fallback = DefaultConfig();
  const TransportConfig& t = config.transport;
  const TransportConfig& d = fallback.transport;
  const auto refuse = [](const char* key, const char* advice) {
    return Conflict{{key, "transport.path"},
                    {"the hand-off to a proxy's worker takes its place", advice}};
  };
  if (t.publication != d.publication) return refuse("transport.publication", "leave it per_thread");
  if (t.ordering != d.ordering) return refuse("transport.ordering", "leave it gpu_fence");
  if (t.batch != d.batch) return refuse("transport.batch", "leave it 1, and use proxy.batch");
  if (t.doorbell != d.doorbell) return refuse("transport.doorbell", "leave it gpu: a worker rings");
  if (t.indices != d.indices) return refuse("transport.indices", "leave it endpoint");
  return std::nullopt;
}

}  // namespace

std::optional<Conflict> ProxyConflict(const Config& config) {
  if (config.transport.path != TransportPath::kProxy) return std::nullopt;
  if (Found found = CheckUnused(config)) return found;
  const std::string& cores = config.proxy.affinity;
  if (cores != "nic_numa" && cores != "inherit" && proxy::CoresIn(cores).empty()) {
    return Conflict{{"proxy.affinity"},
                    {fmt::format("'{}' is no list of cores", cores),
                     "give nic_numa, inherit, or cores such as 0,2-3"}};
  }
  const WorkloadConfig& workload = config.workload;
  const bool posts_itself = workload.kind == WorkloadKind::kConnectionScaling ||
                            workload.kind == WorkloadKind::kHostVerbs ||
                            workload.kind == WorkloadKind::kMoeDispatch;
  if (IsCaller(config) || posts_itself) {
    return Conflict{{"transport.path", "workload.kind"},
                    {"this workload is about threads that post themselves",
                     "use direct, or put_latency, round_trip, message_rate or goodput"}};
  }
  if (config.proxy.handoff == ProxyHandoff::kTuned && workload.threads_per_qp > 1) {
    return Conflict{{"proxy.handoff", "workload.threads_per_qp"},
                    {"a tuned ring has one producer", "use 1, or baseline"}};
  }
  // What a simulated worker may look at in one turn and still wait without polling: a ring and its
  // completions each.
  constexpr uint64_t kMostRings = 120;
  if (config.backend == Backend::kSim &&
      config.transport.qps_per_peer > kMostRings * config.proxy.workers) {
    return Conflict{{"proxy.workers", "transport.qps_per_peer"},
                    {fmt::format("{} rings are too many for {} simulated workers",
                                 config.transport.qps_per_peer, config.proxy.workers),
                     fmt::format("use at least {}",
                                 (config.transport.qps_per_peer + kMostRings - 1) / kMostRings)}};
  }
  if (config.backend == Backend::kMlx5 && config.proxy.blueflame) {
    return Conflict{{"proxy.blueflame", "backend"},
                    {"backend mlx5 rings with 8 bytes", "leave it false"}};
  }
  if (RunsKernels(config) && config.proxy.counter == Placement::kGpu) {
    return Conflict{{"proxy.counter", "live.threads"},
                    {"a worker of the host cannot write GPU memory", "use host"}};
  }
  return std::nullopt;
}

}  // namespace ringpost::config
