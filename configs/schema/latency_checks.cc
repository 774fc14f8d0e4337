#include "configs/schema/latency_checks.h"

#include <fmt/format.h>

#include <string>

#include "configs/schema/connection_checks.h"

namespace ringpost::config {
namespace {

using Found = std::optional<Conflict>;

// A latency is that of one thread, or of lanes that post together: others would be in its way, and
// have no queue of their own.
Found CheckLatency(const Config& config) {
  const WorkloadConfig& workload = config.workload;
  const bool trip = workload.kind == WorkloadKind::kRoundTrip;
  if (!trip && workload.kind != WorkloadKind::kPutLatency) return std::nullopt;
  const bool on_gpu = config.backend == Backend::kSim || RunsKernels(config);
  const bool warp = !trip && on_gpu && config.transport.publication == Publication::kCooperative;
  if (workload.threads > (warp ? kWarpLanes : 1)) {
    std::string wrong = "round_trip is one thread of each rank";
    if (!trip) {
      wrong = on_gpu ? "put_latency is one thread on a GPU, or one warp with cooperative"
                     : fmt::format("put_latency has one thread with backend {}",
                                   NameOf(config.backend));
    }
    return Conflict{{"workload.threads", "workload.kind"},
                    {wrong, fmt::format("use {}, or message_rate", warp ? "at most 32" : "1")}};
  }
  if (warp && workload.sms_count > 1) {
    return Conflict{{"workload.sms_count", "workload.kind"},
                    {"put_latency with cooperative is one warp, on one SM", "use 1"}};
  }
  return std::nullopt;
}

// Where a quiet of all is what is timed.
Found CheckIdleQps(const Config& config) {
  if (config.transport.idle_qps == 0) return std::nullopt;
  if (config.workload.kind == WorkloadKind::kPutLatency &&
      config.transport.path == TransportPath::kDirect &&
      config.transport.completion == CompletionScope::kAllQps) {
    return std::nullopt;
  }
  return Conflict{{"transport.idle_qps", "workload.kind", "transport.completion"},
                  {"only put_latency with a quiet of all_qps looks at queue pairs that nobody uses",
                   "use 0, or transport.completion: all_qps"}};
}

}  // namespace

std::optional<Conflict> LatencyConflict(const Config& config) {
  if (Found found = CheckLatency(config)) return found;
  return CheckIdleQps(config);
}

}  // namespace ringpost::config
