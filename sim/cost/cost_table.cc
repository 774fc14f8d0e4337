#include "sim/cost/cost_table.h"

namespace ringpost::sim {

Duration GpuCosts::Fence(Order order, Scope scope, bool weak_stores_outstanding) const {
  if (order == Order::kRelaxed || order == Order::kAcquire || scope == Scope::kThread) return {};
  if (scope == Scope::kCta) return fence_cta;
  const bool sequential = order == Order::kSeqCst;
  if (scope == Scope::kSystem) return sequential ? fence_sc_system : fence_acq_rel_system;
  if (sequential) return fence_sc_gpu;
  if (weak_stores_outstanding) return fence_acq_rel_gpu;
  return order == Order::kRelease ? release_gpu_idle : fence_acq_rel_gpu_idle;
}

namespace {

GpuCosts MakeGpuCosts(const Platform& p, double mhz) {
  const auto time = [mhz](const Parameter& parameter) { return TimeOf(parameter, mhz); };
  GpuCosts c;
  c.wqe_build = time(p.wqe_build);
  c.wqe_segment = time(p.wqe_segment);
  c.store_port = time(p.store_port);
  c.payload_load = time(p.payload_load);
  c.payload_store = time(p.payload_store);
  c.store_issue = time(p.store_issue);
  c.doorbell_store = time(p.doorbell_store);
  c.load_local = time(p.load_local);
  c.load_gpu = time(p.load_gpu);
  c.load_host = time(p.load_host);
  c.atomic_gpu = time(p.atomic_gpu);
  c.atomic_host = time(p.atomic_host);
  c.atomic_same_address = time(p.atomic_same_address);
  c.fence_cta = time(p.fence_cta);
  c.fence_acq_rel_gpu = time(p.fence_acq_rel_gpu);
  c.fence_acq_rel_gpu_idle = time(p.fence_acq_rel_gpu_idle);
  c.release_gpu_idle = time(p.release_gpu_idle);
  c.fence_sc_gpu = time(p.fence_sc_gpu);
  c.fence_acq_rel_system = time(p.fence_acq_rel_system);
  c.fence_sc_system = time(p.fence_sc_system);
  c.warp_sync = time(p.warp_sync);
  c.shuffle = time(p.shuffle);
  c.spin = time(p.spin);
  c.memory_ps_per_byte = 8000.0 / p.memory_bandwidth.value;
  return c;
}

GpuCosts MakeHostCosts(const Platform& p, const CostTable& table) {
  const auto time = [&](const Parameter& parameter) {
    return TimeOf(parameter, table.sm_clock_mhz);
  };
  GpuCosts c;
  c.wqe_build = time(p.host_wqe_build);
  c.payload_load = c.payload_store = time(p.host_payload);
  c.store_issue = time(p.host_store);
  c.doorbell_store = time(p.host_ring);
  c.load_local = time(p.host_load);
  c.load_gpu = time(p.host_load_gpu);
  c.load_host = time(p.host_load_shared);
  c.atomic_gpu = time(p.host_load_gpu);
  c.atomic_host = c.atomic_same_address = time(p.host_atomic);
  c.fence_sc_gpu = c.fence_sc_system = time(p.host_fence);
  c.spin = time(p.host_load);
  c.memory_ps_per_byte = table.gpu.memory_ps_per_byte;
  return c;
}

SharedEngineCosts MakeSharedEngineCosts(const Platform& p, double mhz) {
  SharedEngineCosts c;
  if (!p.has_shared_engine) return c;
  const auto count = [](const Parameter& parameter) {
    return static_cast<uint32_t>(parameter.value);
  };
  c.used = true;
  c.service = TimeOf(p.engine_service, mhz);
  c.dc_switch = TimeOf(p.dc_switch, mhz);
  c.transmit_quantum = count(p.transmit_quantum);
  c.contexts_ahead = count(p.contexts_ahead);
  c.receive_buffer_bytes = static_cast<uint64_t>(p.receive_buffer.value);
  c.requester_lines = count(p.requester_lines);
  c.host_queue_lines = count(p.host_queue_lines);
  c.responder_lines = count(p.responder_lines);
  return c;
}

}  // namespace

CostTable MakeCostTable(const Platform& p, double sm_clock_mhz) {
  CostTable table;
  table.sm_clock_mhz = sm_clock_mhz > 0 ? sm_clock_mhz : p.sm_clock.value;
  const double mhz = table.sm_clock_mhz;
  const auto time = [mhz](const Parameter& parameter) { return TimeOf(parameter, mhz); };
  table.sms_count = static_cast<uint32_t>(p.sms_count.value);
  table.gpu = MakeGpuCosts(p, mhz);
  table.path = {time(p.doorbell_delivery), time(p.read_gpu), time(p.read_host), time(p.write_gpu),
                time(p.write_host)};
  const auto context = [&](const CacheTimes& times, bool blocks_stage) {
    return ContextCosts{time(times.second_level_hit), time(p.context_miss),
                        time(times.bank_service), time(times.write_back), blocks_stage};
  };
  table.nic = {time(p.doorbell_service), time(p.fetch_service), time(p.qp_serial), time(p.transmit),
               time(p.receive), time(p.cqe_service), time(p.nic_latency),
               context(p.requester_times, p.requester_context.blocks == "stage"),
               // Its pipe works in order unless it is said otherwise.
               context(p.responder_times, p.responder_context.blocks != "qp"),
               context(p.mpt_times, false), context(p.mtt_times, false),
               MakeSharedEngineCosts(p, mhz)};
  table.link.ps_per_byte = 8000.0 / p.link_rate.value;
  table.link.header_bytes = static_cast<uint32_t>(p.header_bytes.value);
  table.link.mtu = static_cast<uint32_t>(p.mtu.value);
  table.link.hop = time(p.hop_latency);
  return table;
}

CostTable MakeHostCostTable(const Platform& p, const CostTable& table) {
  CostTable host = table;
  host.gpu = MakeHostCosts(p, table);
  host.path.doorbell_delivery = TimeOf(p.host_doorbell_delivery, table.sm_clock_mhz);
  return host;
}

CostTable MakeWorkerCostTable(const Platform& p, const CostTable& host, HostClock clock) {
  const Parameter& rate = clock == HostClock::kCold ? p.host_clock_cold : p.host_clock_warm;
  CostTable worker = host;
  worker.gpu.wqe_build = TimeOf(p.host_request, rate.value);
  worker.gpu.doorbell_store = TimeOf(p.host_post, rate.value);
  worker.gpu.load_host = host.gpu.load_local;
  return worker;
}

}  // namespace ringpost::sim
