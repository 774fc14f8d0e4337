// cost_table.h: a platform's parameters as durations at one SM clock, ready for the hot path.
#pragma once

#include "sim/cost/platform.h"
#include "sim/engine/time.h"
#include "transport/order.h"

namespace ringpost::sim {

// Of a thread: one of the GPU, or of the host (MakeHostCostTable).
struct GpuCosts {
  Duration wqe_build, wqe_segment, store_port, payload_load, payload_store;
  Duration store_issue, doorbell_store, load_local, load_gpu, load_host;
  Duration atomic_gpu, atomic_host, atomic_same_address;
  Duration fence_cta, fence_acq_rel_gpu, fence_acq_rel_gpu_idle, release_gpu_idle, fence_sc_gpu;
  Duration fence_acq_rel_system, fence_sc_system;
  Duration warp_sync, shuffle, spin;
  double memory_ps_per_byte = 0;

  // One cost per kind, scope and what the fence waits for. An acquire waits for nothing: loads
  // before it have returned.
  Duration Fence(Order order, Scope scope, bool weak_stores_outstanding) const;
};

struct PathCosts {
  Duration doorbell_delivery, read_gpu, read_host, write_gpu, write_host;
};

// What it takes to get at a QP context.
struct ContextCosts {
  Duration second_level_hit, miss, bank_service, write_back;
  bool blocks_stage = false;  // a miss holds up other QPs too
};

// Of a NIC whose directions share a packet engine (Platform::has_shared_engine).
struct SharedEngineCosts {
  bool used = false;
  Duration service, dc_switch;
  uint32_t transmit_quantum = 1;
  uint32_t contexts_ahead = 1;
  uint64_t receive_buffer_bytes = 0;
  uint32_t requester_lines = 0, host_queue_lines = 0, responder_lines = 0;

  uint32_t RequesterLines() const { return requester_lines + host_queue_lines; }  // at most
};

struct NicCosts {
  Duration doorbell_service, fetch_service, qp_serial, transmit, receive, cqe_service;
  Duration latency;
  ContextCosts requester_context, responder_context, mpt, mtt;
  SharedEngineCosts shared;
};

struct LinkCosts {
  double ps_per_byte = 0;
  uint32_t header_bytes = 0;
  uint32_t mtu = 4096;
  Duration hop;

  Duration Serialise(uint64_t bytes) const {
    return {static_cast<int64_t>(static_cast<double>(bytes) * ps_per_byte + 0.5)};
  }
};

struct CostTable {
  GpuCosts gpu;
  PathCosts path;
  NicCosts nic;
  LinkCosts link;
  uint32_t sms_count = 1;
  double sm_clock_mhz = 0;
};

// `sm_clock_mhz` overrides the platform's clock; 0 keeps it.
CostTable MakeCostTable(const Platform& platform, double sm_clock_mhz);

// The same where the threads are the host's: what differs are their own operations, and the way
// from a core to the doorbell register.
CostTable MakeHostCostTable(const Platform& platform, const CostTable& table);

enum class HostClock : uint8_t { kCold, kWarm };

// Of `host`, where the threads are workers of a proxy: what they do in cycles is at that clock, and
// words that they poll lie in the core's own cache until another side writes them.
CostTable MakeWorkerCostTable(const Platform& platform, const CostTable& host, HostClock clock);

}  // namespace ringpost::sim
