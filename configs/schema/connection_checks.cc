#include "configs/schema/connection_checks.h"

#include <fmt/format.h>

#include <string_view>

#include "configs/schema/schema.h"

namespace ringpost::config {

namespace {

// Threads of a host's cores post to queues in its memory, each by itself.
std::optional<Conflict> HostConflict(const Config& config) {
  const TransportConfig& transport = config.transport;
  if (config.workload.kind != WorkloadKind::kHostVerbs) return std::nullopt;
  if (transport.placement != Placement::kHost) {
    return Conflict{{"transport.placement", "workload.kind"},
                    {"host_verbs has its queues in host memory", "use host"}};
  }
  if (transport.publication == Publication::kCooperative) {
    return Conflict{{"transport.publication", "workload.kind"},
                    {"threads of a CPU are no warps", "use per_thread or batched"}};
  }
  if (transport.doorbell == DoorbellMode::kCpu) {
    return Conflict{{"transport.doorbell", "workload.kind"},
                    {"the threads of host_verbs ring themselves", "use gpu, as others that do"}};
  }
  if (config.workload.sms_count > 1) {
    return Conflict{{"workload.sms_count", "workload.kind"},
                    {"the threads of host_verbs have a core each, and no SM", "use 1"}};
  }
  return std::nullopt;
}

}  // namespace

// Each queue has one thread that posts, or one warp.
std::optional<Conflict> ConnectionConflict(const Config& config) {
  const WorkloadConfig& workload = config.workload;
  const TransportConfig& transport = config.transport;
  if (!IsConnectionScaling(config)) {
    if (config.ranks == 2 || workload.kind == WorkloadKind::kMoeDispatch) return std::nullopt;
    return Conflict{
        {"ranks", "workload.kind"},
        {"this kind is between two ranks", "use 2, or connection_scaling or moe_dispatch"}};
  }
  const std::string_view kind =
      workload.kind == WorkloadKind::kHostVerbs ? "host_verbs" : "connection_scaling";
  if (config.backend != Backend::kSim) {
    return Conflict{{"workload.kind", "backend"},
                    {fmt::format("{} looks into the NIC between passes", kind), "use backend sim"}};
  }
  if (std::optional<Conflict> found = HostConflict(config)) return found;
  const bool warps = transport.publication == Publication::kCooperative;
  const bool batches = transport.publication == Publication::kBatched;
  if (!warps && !batches && transport.publication != Publication::kPerThread) {
    return Conflict{{"transport.publication", "workload.kind"},
                    {fmt::format("each queue of {} has one thread or one warp that posts", kind),
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

Conflict TooManyQps(uint64_t asked, uint64_t each, uint64_t limit, const std::string& limit_key) {
  double most = 0;
  for (const Key<Config>& key : Keys()) {
    if (key.info.path == limit_key) most = key.info.maximum;
  }
  std::string wrong = std::to_string(asked);
  if (each > 1) wrong += fmt::format(" take {} at each NIC, which", asked * each);
  std::string right = fmt::format("use at most {}", limit / each);
  if (static_cast<double>(asked * each) <= most) right += ", or raise " + limit_key;
  return {{"transport.qps_per_peer", limit_key},
          {fmt::format("{} is more than {}, {}", wrong, limit_key, limit), right}};
}

}  // namespace ringpost::config
