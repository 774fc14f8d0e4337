#include "configs/schema/checks.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "configs/schema/connection_checks.h"
#include "configs/schema/latency_checks.h"
#include "configs/schema/moe_checks.h"
#include "configs/schema/proxy_checks.h"
#include "configs/schema/quantity.h"
#include "configs/schema/schema.h"
#include "configs/schema/unused_keys.h"
#include "transport/publication/pairs.h"

namespace ringpost::config {
namespace {

using Found = std::optional<Conflict>;

bool HasGpuScope(Ordering ordering) {
  return ordering == Ordering::kGpuFence || ordering == Ordering::kGpuFenceDbrec ||
         ordering == Ordering::kGpuRelease || ordering == Ordering::kThreadfence;
}

bool IsBuilt(Publication publication, Ordering ordering) {
  return VisitPair(NameOf(publication), NameOf(ordering), []<class, class>() {});
}

bool IsSafe(Ordering ordering, const TransportConfig& transport, const WorkloadConfig& workload) {
  if (transport.unsafe) return true;
  const bool host =
      transport.placement == Placement::kHost || workload.placement == Placement::kHost;
  return ordering != Ordering::kNone && !(HasGpuScope(ordering) && host);
}

// What this publication may have instead, so that advice is not refused in its turn.
std::string UsableOrderings(const TransportConfig& transport, const WorkloadConfig& workload) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Ordering::kSystemFence); ++i) {
    const auto ordering = static_cast<Ordering>(i);
    if (IsBuilt(transport.publication, ordering) && IsSafe(ordering, transport, workload)) {
      names.emplace_back(NameOf(ordering));
    }
  }
  return "use " + Join(names);
}

Found CheckOrdering(const TransportConfig& transport, const WorkloadConfig& workload) {
  const std::string usable = UsableOrderings(transport, workload);
  if (!IsBuilt(transport.publication, transport.ordering)) {
    return Conflict{{"transport.ordering", "transport.publication"},
                    {fmt::format("{} with {} is not built", NameOf(transport.publication),
                                 NameOf(transport.ordering)),
                     usable}};
  }
  if (transport.unsafe) return std::nullopt;
  if (transport.ordering == Ordering::kNone) {
    return Conflict{{"transport.ordering"},
                    {"none orders nothing before the doorbell",
                     "use another ordering, or set transport.unsafe: true"}};
  }
  if (HasGpuScope(transport.ordering) && transport.placement == Placement::kHost) {
    return Conflict{{"transport.ordering", "transport.placement"},
                    {"a GPU-scope ordering does not reach queues in host memory",
                     usable + ", or set transport.unsafe: true"}};
  }
  if (HasGpuScope(transport.ordering) && workload.placement == Placement::kHost) {
    return Conflict{{"transport.ordering", "workload.placement"},
                    {"a GPU-scope ordering does not reach payload in host memory",
                     usable + ", or set transport.unsafe: true"}};
  }
  return std::nullopt;
}

// A publication that would ignore a setting refuses it, so that no run is taken for another.
Found CheckPublication(const TransportConfig& transport, const WorkloadConfig& workload) {
  const bool own_qp = transport.publication == Publication::kPerThread ||
                      transport.publication == Publication::kBatched;
  if (own_qp && workload.threads_per_qp > 1) {
    return Conflict{{"workload.threads_per_qp", "transport.publication"},
                    {"per_thread and batched give each thread its own QP",
                     "use 1, or publication ordered_handoff, locked, cooperative or last_writer"}};
  }
  const bool rings_each = transport.publication == Publication::kPerThread ||
                          transport.publication == Publication::kLocked;
  if (rings_each && transport.batch > 1) {
    return Conflict{{"transport.batch", "transport.publication"},
                    {"per_thread and locked ring for each WQE",
                     "use 1, or publication batched, ordered_handoff, cooperative or last_writer"}};
  }
  if (transport.publication == Publication::kCooperative &&
      workload.threads_per_qp % kWarpLanes != 0) {
    return Conflict{{"transport.publication", "workload.threads_per_qp"},
                    {"cooperative needs whole warps on each QP",
                     "use a multiple of 32 for workload.threads_per_qp"}};
  }
  if (transport.batch > transport.sq_depth_wqebbs) {
    return Conflict{{"transport.batch", "transport.sq_depth_wqebbs"},
                    {fmt::format("{} WQEs do not fit a send queue of {}", transport.batch,
                                 transport.sq_depth_wqebbs),
                     "use a smaller batch or a deeper queue"}};
  }
  return std::nullopt;
}

Found CheckDoorbell(const Config& config) {
  if (config.backend == Backend::kSim && config.transport.doorbell == DoorbellMode::kBlueFlame) {
    return Conflict{{"transport.doorbell", "backend"},
                    {"blueflame is for threads of a CPU, and those of this backend are a GPU's",
                     "use gpu, cpu or record_free"}};
  }
  return std::nullopt;
}

Found CheckThreads(const Config& config) {
  const TransportConfig& transport = config.transport;
  const WorkloadConfig& workload = config.workload;
  // Those on the host's cores have no SM; those of moe_dispatch are as many on each.
  if (workload.kind == WorkloadKind::kHostVerbs || workload.kind == WorkloadKind::kMoeDispatch) {
    return std::nullopt;
  }
  if (workload.threads % workload.sms_count != 0) {
    return Conflict{{"workload.sms_count", "workload.threads"},
                    {fmt::format("{} threads do not spread evenly over {} SMs", workload.threads,
                                 workload.sms_count),
                     "use a divisor of workload.threads"}};
  }
  constexpr uint64_t kResident = 2048;  // threads of one SM, since Volta
  if (workload.threads / workload.sms_count > kResident) {
    return Conflict{
        {"workload.threads", "workload.sms_count"},
        {fmt::format("{} threads on one SM are too many", workload.threads / workload.sms_count),
         fmt::format("use at most {} for each SM", kResident)}};
  }
  // Its threads have as many queues each as there are.
  if (workload.kind == WorkloadKind::kConnectionScaling) return std::nullopt;
  const uint64_t needed =
      workload.threads / workload.threads_per_qp + (workload.threads % workload.threads_per_qp > 0);
  if (needed > transport.qps_per_peer) {
    return Conflict{
        {"transport.qps_per_peer", "workload.threads", "workload.threads_per_qp"},
        {fmt::format("{} threads at {} per QP need {} QPs, and there are {}", workload.threads,
                     workload.threads_per_qp, needed, transport.qps_per_peer),
         fmt::format("use at least {}", needed)}};
  }
  return std::nullopt;
}

Found CheckInline(const TransportConfig& transport, const WorkloadConfig& workload) {
  if (workload.inline_mode == InlineMode::kAlways &&
      workload.payload_bytes > transport.inline_max_bytes) {
    return Conflict{{"workload.inline", "workload.payload", "transport.inline_max"},
                    {fmt::format("{} B are more than transport.inline_max, {} B",
                                 workload.payload_bytes, transport.inline_max_bytes),
                     "use auto, a smaller payload or a larger transport.inline_max"}};
  }
  return std::nullopt;
}

// Source and target of all threads are memory of this machine.
Found CheckPayload(const Config& config) {
  constexpr uint64_t kMost = uint64_t{8} << 30;
  const WorkloadConfig& workload = config.workload;
  if (workload.kind != WorkloadKind::kMessageRate && workload.kind != WorkloadKind::kGoodput) {
    return std::nullopt;
  }
  const uint64_t slots = SlotsOfThread(config);
  const uint64_t all = workload.threads * (slots + 1);
  if (SlotBytes(config) <= kMost / all) return std::nullopt;
  // In whole units, as one would write it.
  uint64_t fits = kMost / all / kSlotLineBytes * kSlotLineBytes;
  for (const uint64_t unit : {uint64_t{1} << 20, uint64_t{1} << 10}) {
    if (fits < unit) continue;
    fits = fits / unit * unit;
    break;
  }
  const auto text = [](uint64_t bytes) {
    return FormatQuantity(static_cast<double>(bytes), QuantityKind::kBytes);
  };
  return Conflict{{"workload.payload", "workload.threads", "transport.sq_depth_wqebbs"},
                  {fmt::format("{} slots of {} take more than {}", all,
                               text(workload.payload_bytes), text(kMost)),
                   fits == 0 ? "use fewer threads, or a shorter transport.sq_depth_wqebbs"
                             : fmt::format("use at most {}, or a shorter transport.sq_depth_wqebbs",
                                           text(fits))}};
}

// What the NIC would refuse is refused before anything is made.
Found CheckLimits(const Config& config) {
  const TransportConfig& transport = config.transport;
  const NicLimitsConfig& limits = config.nic.limits;
  const auto beyond = [](const char* key, const char* limit_key, uint64_t value, uint64_t limit) {
    return Conflict{{key, limit_key},
                    {fmt::format("{} is more than {}, {}", value, limit_key, limit),
                     fmt::format("use at most {}, or raise {}", limit, limit_key)}};
  };
  const bool fewer_cqs = limits.cqs_count < limits.qps_count;
  const uint64_t objects = std::min(limits.cqs_count, limits.qps_count);
  // Of DC an initiator and a target, whoever it leads to.
  const uint64_t each =
      transport.kind == TransportKind::kDc ? 2 : std::max<uint64_t>(1, config.ranks - 1);
  const uint64_t qps = transport.qps_per_peer + transport.idle_qps;
  if (qps > objects / each) {
    return TooManyQps(qps, each, objects,
                      fewer_cqs ? "nic.limits.cqs_count" : "nic.limits.qps_count");
  }
  if (transport.sq_depth_wqebbs > limits.sq_depth_wqebbs) {
    return beyond("transport.sq_depth_wqebbs", "nic.limits.sq_depth_wqebbs",
                  transport.sq_depth_wqebbs, limits.sq_depth_wqebbs);
  }
  if (transport.inline_max_bytes > limits.inline_max_bytes) {
    return beyond("transport.inline_max", "nic.limits.inline_max", transport.inline_max_bytes,
                  limits.inline_max_bytes);
  }
  return std::nullopt;
}

Found CheckFaults(const Config& config) {
  // Of `ringpost exec` a rank is a device.
  const uint64_t ranks = std::max(config.ranks, config.exec.devices);
  for (const FaultRule& rule : config.faults.rules) {
    if (rule.rank && *rule.rank >= ranks) {
      return Conflict{
          {"faults.rules", "ranks"},
          {fmt::format("there is no rank {}", *rule.rank), fmt::format("use 0 to {}", ranks - 1)}};
    }
  }
  return std::nullopt;
}

Found CheckCaller(const Config& config) {
  if (!IsCaller(config)) return std::nullopt;
  const TransportConfig& transport = config.transport;
  if (!RunsKernels(config)) {
    return Conflict{{"workload.kind", "backend", "live.threads"},
                    {"a caller shows what registers and residency its kernel has, for which the "
                     "model has no costs",
                     "use backend live with live.threads: gpu, or another kind"}};
  }
  const uint64_t values = config.workload.live_values;
  if (values != 8 && values != 16 && values != 32) {
    return Conflict{{"workload.live_values"},
                    {fmt::format("a kernel of {} values is not built", values), "use 8, 16 or 32"}};
  }
  if (transport.publication != Publication::kPerThread) {
    return Conflict{{"transport.publication", "workload.kind"},
                    {"each block of a caller has its own QP", "use per_thread"}};
  }
  if (config.workload.threads_per_qp > 1 || transport.batch > 1) {
    const bool shared = config.workload.threads_per_qp > 1;
    return Conflict{{shared ? "workload.threads_per_qp" : "transport.batch", "workload.kind"},
                    {"each block of a caller has its own QP, and rings for each message", "use 1"}};
  }
  if (transport.ordering != Ordering::kSystemRelease &&
      transport.ordering != Ordering::kSystemFence) {
    return Conflict{
        {"transport.ordering", "workload.kind"},
        {"a caller of this ordering is not built", "use system_release or system_fence"}};
  }
  // Blocks that fill the GPU leave no room for the agent that reaches its memory.
  const bool queues = transport.placement == Placement::kGpu;
  if (queues || config.workload.placement == Placement::kGpu) {
    return Conflict{{queues ? "transport.placement" : "workload.placement", "workload.kind"},
                    {"blocks of a caller leave the NIC no room to reach GPU memory", "use host"}};
  }
  return std::nullopt;
}

Found CheckKernels(const Config& config) {
  if (!RunsKernels(config)) return std::nullopt;
  if (config.transport.doorbell == DoorbellMode::kBlueFlame) {
    return Conflict{{"transport.doorbell", "live.threads"},
                    {"blueflame is for threads of a CPU", "use gpu or cpu"}};
  }
  const TransportConfig& transport = config.transport;
  if (transport.doorbell == DoorbellMode::kCpu && transport.placement == Placement::kGpu) {
    return Conflict{{"transport.doorbell", "transport.placement"},
                    {"a host thread writes the record, and cannot reach GPU memory",
                     "use gpu, or transport.placement: host"}};
  }
  if (config.workload.kind != WorkloadKind::kPutLatency) return std::nullopt;
  // The views of all its QPs are arguments of the kernel.
  constexpr uint64_t kMostQps = 16;
  const uint64_t qps = transport.qps_per_peer + transport.idle_qps;
  if (qps > kMostQps) {
    return Conflict{{"transport.qps_per_peer", "transport.idle_qps", "live.threads"},
                    {fmt::format("put_latency on a GPU has no room for {} QPs", qps),
                     fmt::format("use at most {}", kMostQps)}};
  }
  return std::nullopt;
}

// Threads of the system are few.
Found CheckRealTime(const Config& config) {
  if (config.backend == Backend::kSim || RunsKernels(config)) return std::nullopt;
  constexpr uint64_t kMostThreads = 1024;
  if (config.workload.threads > kMostThreads) {
    return Conflict{
        {"workload.threads", "backend"},
        {fmt::format("{} threads of the system are too many", config.workload.threads),
         fmt::format("use at most {} with backend {}", kMostThreads, NameOf(config.backend))}};
  }
  return std::nullopt;
}

Found CheckMlx5(const Config& config) {
  if (config.backend != Backend::kMlx5) return std::nullopt;
  if (config.transport.doorbell == DoorbellMode::kBlueFlame ||
      config.transport.doorbell == DoorbellMode::kRecordFree) {
    return Conflict{
        {"transport.doorbell", "backend"},
        {"backend mlx5 writes the record and rings with 8 bytes", "use gpu, cpu or auto"}};
  }
  if (!config.faults.rules.empty()) {
    return Conflict{{"faults.rules", "backend"},
                    {"hardware has no faults to order", "use backend sim or live"}};
  }
  return std::nullopt;
}

// Only the wire of a live NIC has faults, and a WQE that completes in error.
Found CheckLive(const Config& config) {
  if (config.backend != Backend::kLive) return std::nullopt;
  if (config.transport.doorbell == DoorbellMode::kRecordFree) {
    return Conflict{{"transport.doorbell", "backend"},
                    {"a live doorbell is a page that is looked at, and needs the record",
                     "use gpu, cpu or blueflame, or backend sim"}};
  }
  if (config.live.wire == LiveWire::kUdp && config.transport.kind == TransportKind::kDc) {
    return Conflict{{"transport.kind", "live.wire"},
                    {"the address vectors of DC name a LID, and RoCEv2 has none",
                     "use rc, or live.wire: shared_memory"}};
  }
  for (const FaultRule& rule : config.faults.rules) {
    if (rule.where != FaultPlace::kWire && rule.kind != FaultKind::kError) {
      return Conflict{
          {"faults.rules", "backend"},
          {"backend live has no such fault", "use kinds of the wire, error, or backend sim"}};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Conflict> FindConflict(const Config& config) {
  // First what a workload can take at all: the rest would advise what it does not take.
  if (Found found = UnusedKeyConflict(config)) return found;
  if (Found found = CheckCaller(config)) return found;
  if (Found found = LatencyConflict(config)) return found;
  if (Found found = ConnectionConflict(config)) return found;
  if (Found found = MoeConflict(config)) return found;
  if (Found found = ProxyConflict(config)) return found;
  if (config.transport.path == TransportPath::kDirect) {
    if (Found found = CheckOrdering(config.transport, config.workload)) return found;
    if (Found found = CheckPublication(config.transport, config.workload)) return found;
  }
  if (Found found = CheckThreads(config)) return found;
  if (Found found = CheckDoorbell(config)) return found;
  if (Found found = CheckInline(config.transport, config.workload)) return found;
  if (Found found = CheckPayload(config)) return found;
  if (Found found = CheckLimits(config)) return found;
  if (Found found = CheckFaults(config)) return found;
  if (Found found = CheckKernels(config)) return found;
  if (Found found = CheckRealTime(config)) return found;
  if (Found found = CheckMlx5(config)) return found;
  return CheckLive(config);
}

}  // namespace ringpost::config
