#include "configs/schema/connection_checks.h"

#include <fmt/format.h>

namespace ringpost::config {

// Each queue has one thread that posts, or one warp.
std::optional<Conflict> ConnectionConflict(const Config& config) {
  const WorkloadConfig& workload = config.workload;
  const TransportConfig& transport = config.transport;
  if (workload.kind != WorkloadKind::kConnectionScaling) {
    if (config.ranks == 2) return std::nullopt;
    return Conflict{{"ranks", "workload.kind"},
                    {"this kind is between two ranks", "use 2, or connection_scaling"}};
  }
  if (config.backend != Backend::kSim) {
    return Conflict{{"workload.kind", "backend"},
                    {"connection_scaling looks into the NIC between passes", "use backend sim"}};
  }
  const bool warps = transport.publication == Publication::kCooperative;
  const bool batches = transport.publication == Publication::kBatched;
  if (!warps && !batches && transport.publication != Publication::kPerThread) {
    return Conflict{{"transport.publication", "workload.kind"},
                    {"each queue of connection_scaling has one thread or one warp that posts",
                     "use per_thread, batched or cooperative"}};
  }
  const uint64_t unit = warps ? kWarpLanes : batches ? transport.batch : 1;
  if (workload.writes_per_visit % unit != 0) {
    return Conflict{{"workload.writes_per_visit", "transport.publication"},
                    {fmt::format("{} writes are not whole {}", workload.writes_per_visit,
                                 warps ? "warps" : "batches"),
                     fmt::format("use a multiple of {}", unit)}};
  }
  return std::nullopt;
}

}  // namespace ringpost::config
