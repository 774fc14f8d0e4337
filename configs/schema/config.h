// config.h: one run, as the data path and the simulator take it: a YAML file after parsing.
//
// Plain values, all set by the loader; defaults, ranges and units stand in the table of schema.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/schema/exec_config.h"
#include "configs/schema/moe_config.h"
#include "configs/schema/proxy_config.h"
#include "configs/schema/words.h"
#include "sim/cost/operation_lists.h"
#include "sim/engine/time.h"
#include "transport/qp_view.h"

namespace ringpost::config {

// Counts of threads, QPs and operations are per rank.
struct TransportConfig {
  TransportPath path = TransportPath::kDirect;
  TransportKind kind = TransportKind::kRc;
  uint64_t qps_per_peer = 0;
  uint64_t idle_qps = 0;
  uint64_t sq_depth_wqebbs = 0;
  uint64_t batch = 0;  // WQEs per doorbell
  Placement placement = Placement::kGpu;
  Publication publication = Publication::kPerThread;
  Ordering ordering = Ordering::kGpuFence;
  CompletionScope completion = CompletionScope::kSelectedQp;
  DoorbellMode doorbell = DoorbellMode::kGpu;
  IndexHome indices = IndexHome::kEndpoint;
  uint64_t inline_max_bytes = 0;
  bool unsafe = false;
};

struct WorkloadConfig {
  WorkloadKind kind = WorkloadKind::kPutLatency;
  uint64_t payload_bytes = 0;
  InlineMode inline_mode = InlineMode::kAuto;
  SignalKind signal = SignalKind::kWrite;  // of round_trip
  Placement placement = Placement::kGpu;   // of payload and flags
  uint64_t threads = 0;                    // that post
  uint64_t threads_per_qp = 0;             // neighbours that share one QP
  uint64_t sms_count = 0;                  // over which the threads are spread evenly
  uint64_t live_values = 0;                // callers: floats that a thread keeps
  uint64_t messages_per_block = 0;         // callers: puts of each block and kernel
  Direction direction = Direction::kBoth;  // connection_scaling: this and the next four
  uint64_t writes_per_visit = 0;           // to one queue, before the next
  VisitOrder visit_order = VisitOrder::kRoundRobin;
  Revisit revisit = Revisit::kRoom;
  uint64_t whole_pass_messages = 0;  // a pass of more is sampled
  MoeConfig moe;
  uint64_t operations = 0;  // measured, all threads together
  uint64_t warm_up = 0;     // before them, not measured
  bool operator==(const WorkloadConfig&) const = default;
};

struct GpuConfig {
  double sm_clock_mhz = 0;  // 0: the platform's own
};

// What a smaller NIC would refuse.
struct NicLimitsConfig {
  uint64_t qps_count = 0;
  uint64_t cqs_count = 0;
  uint64_t sq_depth_wqebbs = 0;
  uint64_t inline_max_bytes = 0;
  uint64_t message_max_bytes = 0;
  uint64_t rd_atomic_count = 0;  // READs and atomics of one QP under way
};

struct NicConfig {
  NicBehaviour behaviour = NicBehaviour::kMlx5;
  NicLimitsConfig limits;
  uint64_t run_length = 0;  // WQEs that may travel as one run
};

struct VisibilityConfig {
  VisibilityMode mode = VisibilityMode::kTimed;
  Switch checker = Switch::kOn;
  NicReads reads = NicReads::kL2;
};

// One fault; a place that is not set means any.
struct FaultRule {
  FaultPlace where = FaultPlace::kResponder;
  FaultKind kind = FaultKind::kDelay;
  std::optional<uint64_t> rank;
  std::optional<uint64_t> qp;
  std::optional<uint64_t> wqe;
  sim::Duration amount;
  double probability_percent = 100;
  std::optional<uint64_t> count;
  FaultSyndrome syndrome = FaultSyndrome::kLocalQpOperation;  // of an error
};

struct FaultsConfig {
  std::vector<FaultRule> rules;
};

// Of the backend live alone.
struct LiveConfig {
  LiveThreads threads = LiveThreads::kHost;
  std::optional<uint64_t> nic_core;  // not set: any
  LivePoll poll = LivePoll::kSpin;
  LivePace pace = LivePace::kOff;
  LiveWire wire = LiveWire::kSharedMemory;
  std::string address;  // of this machine, where datagrams arrive
};

// Of the backend mlx5 alone.
struct Mlx5Config {
  std::vector<std::string> devices;   // empty: any active port
  std::optional<uint64_t> gid_index;  // not set: the best RoCE v2 entry
  uint64_t pkey_index = 0;
  Mlx5Route route = Mlx5Route::kDevx;
};

struct EngineConfig {
  uint64_t stack_size_bytes = 0;
  uint64_t stack_memory_bytes = 0;
};

struct Config {
  Backend backend = Backend::kSim;
  std::string platform;
  std::string library;
  uint64_t seed = 0;
  uint64_t ranks = 0;
  TransportConfig transport;
  ProxyConfig proxy;
  WorkloadConfig workload;
  GpuConfig gpu;
  HostConfig host;
  NicConfig nic;
  VisibilityConfig visibility;
  FaultsConfig faults;
  LiveConfig live;
  ExecConfig exec;
  Mlx5Config mlx5;
  EngineConfig engine;
  // Those of the library, for the way in which these threads post.
  sim::OperationLists operations;
};

// Whether it is about the code around a put, and what the compiler makes of it.
constexpr bool IsCaller(const Config& config) {
  return config.workload.kind == WorkloadKind::kComputeCaller ||
         config.workload.kind == WorkloadKind::kStreamingCaller;
}
// Whether threads, of a GPU or of a host's cores, put over many queue pairs in passes.
constexpr bool IsConnectionScaling(const Config& config) {
  return config.workload.kind == WorkloadKind::kConnectionScaling ||
         config.workload.kind == WorkloadKind::kHostVerbs;
}
// Whether the threads of the workload are kernels of a GPU that is here.
constexpr bool RunsKernels(const Config& config) {
  return config.backend == Backend::kLive && config.live.threads == LiveThreads::kGpu;
}

// The target of each thread of message_rate and goodput: as many slots as it may have in flight, so
// that none is overwritten unseen too soon, of whole lines, as a careful user would lay them out.
inline uint64_t SlotsOfThread(const Config& config) {
  return std::bit_ceil(
      std::max<uint64_t>(1, config.transport.sq_depth_wqebbs / config.workload.threads_per_qp));
}
constexpr uint64_t kSlotLineBytes = 64;
inline uint64_t SlotBytes(const Config& config) {
  const uint64_t lines = (config.workload.payload_bytes + kSlotLineBytes - 1) / kSlotLineBytes;
  return std::max<uint64_t>(1, lines) * kSlotLineBytes;
}

// Every key at its default.
Config DefaultConfig();

// One key of the effective configuration. `origin` is "default", "file:line", "RINGPOST_SET" or
// "--set".
struct EffectiveEntry {
  std::string key;
  std::string value;
  std::string origin;
  std::string content = {};  // of the file that the value names, as far as the run depends on it
};
using Effective = std::vector<EffectiveEntry>;  // in the order of the table

}  // namespace ringpost::config
