#include "sim/cost/platform.h"

namespace ringpost::sim {
namespace {

using P = Platform;

std::vector<ParameterInfo> MakeGpuParameters() {
  return {
      {"gpu.sm_clock", &P::sm_clock, Unit::kMegahertz, "SM clock"},
      {"gpu.sms_count", &P::sms_count, Unit::kCount, "streaming multiprocessors", {1, 4096}},
      {"gpu.memory_bandwidth", &P::memory_bandwidth, Unit::kGigabitsPerSecond,
       "GPU memory, reads and writes together"},
      {"gpu.wqe_build", &P::wqe_build, Unit::kTime, "arithmetic of building one WQE"},
      {"gpu.wqe_segment", &P::wqe_segment, Unit::kTime, "one 16-byte store into a ring slot"},
      {"gpu.store_port", &P::store_port, Unit::kTime,
       "added to a WQE store for each further lane of the SM that stores alongside"},
      {"gpu.payload_load", &P::payload_load, Unit::kTime, "16 bytes of payload read by a thread"},
      {"gpu.payload_store", &P::payload_store, Unit::kTime,
       "16 bytes of payload written by a thread"},
      {"gpu.store_issue", &P::store_issue, Unit::kTime, "one posted word store"},
      {"gpu.doorbell_store", &P::doorbell_store, Unit::kTime, "one posted store to the UAR"},
      {"gpu.load_local", &P::load_local, Unit::kTime, "thread-scope load that hits L1"},
      {"gpu.load_gpu", &P::load_gpu, Unit::kTime, "load served by L2, round trip"},
      {"gpu.load_host", &P::load_host, Unit::kTime, "load of host memory, round trip"},
      {"gpu.atomic_gpu", &P::atomic_gpu, Unit::kTime, "atomic served by L2, round trip"},
      {"gpu.atomic_host", &P::atomic_host, Unit::kTime, "atomic on host memory, round trip"},
      {"gpu.atomic_same_address", &P::atomic_same_address, Unit::kTime,
       "service time of one address under contention"},
      {"gpu.fence_cta", &P::fence_cta, Unit::kTime, "a fence at CTA scope"},
      {"gpu.fence_acq_rel_gpu", &P::fence_acq_rel_gpu, Unit::kTime,
       "release or acq_rel at GPU scope with weak stores outstanding"},
      {"gpu.fence_acq_rel_gpu_idle", &P::fence_acq_rel_gpu_idle, Unit::kTime,
       "acq_rel at GPU scope with no weak store outstanding"},
      {"gpu.release_gpu_idle", &P::release_gpu_idle, Unit::kTime,
       "release at GPU scope with no weak store outstanding"},
      {"gpu.fence_sc_gpu", &P::fence_sc_gpu, Unit::kTime, "fence.sc at GPU scope"},
      {"gpu.fence_acq_rel_system", &P::fence_acq_rel_system, Unit::kTime,
       "release or acq_rel at system scope"},
      {"gpu.fence_sc_system", &P::fence_sc_system, Unit::kTime, "fence.sc at system scope"},
      {"gpu.warp_sync", &P::warp_sync, Unit::kTime, "warp barrier"},
      {"gpu.shuffle", &P::shuffle, Unit::kTime, "warp shuffle or ballot"},
      {"gpu.spin", &P::spin, Unit::kTime, "the rest of one turn of a polling loop"},
  };
}

std::vector<ParameterInfo> MakeHostParameters() {
  return {
      {"host.wqe_build", &P::host_wqe_build, Unit::kTime, "one WQE by a thread of the host"},
      {"host.ring", &P::host_ring, Unit::kTime,
       "one ring by it: the call, doorbell record, barriers and register"},
      {"host.payload", &P::host_payload, Unit::kTime, "16 bytes of payload read or written by it"},
      {"host.load", &P::host_load, Unit::kTime, "load of a word in its core's own cache"},
      {"host.store", &P::host_store, Unit::kTime, "one word store"},
      {"host.load_shared", &P::host_load_shared, Unit::kTime,
       "load of a line that the NIC or another core wrote last"},
      {"host.load_gpu", &P::host_load_gpu, Unit::kTime, "load of GPU memory, round trip"},
      {"host.atomic", &P::host_atomic, Unit::kTime, "atomic on a line that others use"},
      {"host.fence", &P::host_fence, Unit::kTime, "full barrier"},
      {"host.clock_cold", &P::host_clock_cold, Unit::kMegahertz, "clock of a core that was idle"},
      {"host.clock_warm", &P::host_clock_warm, Unit::kMegahertz,
       "clock of a core that is kept busy"},
      {"host.request", &P::host_request, Unit::kTime,
       "one operation by a proxy's worker: its descriptor and its WQE"},
      {"host.post", &P::host_post, Unit::kTime, "one ring by a proxy's worker"},
      {"host.doorbell_delivery", &P::host_doorbell_delivery, Unit::kTime,
       "UAR store of a core until the NIC"},
  };
}

std::vector<ParameterInfo> MakeNicParameters() {
  return {
      {"path.doorbell_delivery", &P::doorbell_delivery, Unit::kTime, "UAR store until the NIC"},
      {"path.read_gpu", &P::read_gpu, Unit::kTime, "NIC reads GPU memory, round trip"},
      {"path.read_host", &P::read_host, Unit::kTime, "NIC reads host memory, round trip"},
      {"path.write_gpu", &P::write_gpu, Unit::kTime, "NIC write until visible in GPU memory"},
      {"path.write_host", &P::write_host, Unit::kTime, "NIC write until visible in host memory"},
      {"nic.doorbell_service", &P::doorbell_service, Unit::kTime, "doorbell stage, per doorbell"},
      {"nic.fetch_service", &P::fetch_service, Unit::kTime, "WQE fetch stage, per WQEBB"},
      {"nic.qp_serial", &P::qp_serial, Unit::kTime, "serial stage of one QP, per WQE"},
      {"nic.transmit", &P::transmit, Unit::kTime, "transmit stage, per packet"},
      {"nic.receive", &P::receive, Unit::kTime, "receive stage, per packet"},
      {"nic.cqe_service", &P::cqe_service, Unit::kTime, "CQE stage, per CQE"},
      {"nic.latency", &P::nic_latency, Unit::kTime, "pipeline latency, each of send and receive"},
      {"nic.context_miss", &P::context_miss, Unit::kTime, "QP context read from host memory"},
      {"link.rate", &P::link_rate, Unit::kGigabitsPerSecond, "link rate"},
      {"link.header_bytes",
       &P::header_bytes,
       Unit::kBytes,
       "wire bytes per packet beside payload",
       {1, 4096}},
      {"link.mtu", &P::mtu, Unit::kBytes, "payload bytes per packet", {256, 4096}},
      {"link.hop_latency", &P::hop_latency, Unit::kTime, "port to port through the switch"},
  };
}

std::vector<ParameterInfo> MakeSharedEngineParameters() {
  return {
      {"shared_engine.service", &P::engine_service, Unit::kTime,
       "packet engine that transmit and receive share, per packet"},
      {"shared_engine.transmit_quantum", &P::transmit_quantum, Unit::kCount,
       "packets that a queue pair sends before the next one has its turn"},
      {"shared_engine.contexts_ahead", &P::contexts_ahead, Unit::kCount,
       "queue pairs whose requester contexts are at hand or fetched for coming turns"},
      {"shared_engine.receive_buffer", &P::receive_buffer, Unit::kBytes,
       "wire bytes that a receiver takes before the engine; beyond that senders wait"},
      {"shared_engine.requester_lines",
       &P::requester_lines,
       Unit::kCount,
       "cache lines of a requester: QP, CQ, translations of its queues in GPU memory",
       {1, 254}},
      {"shared_engine.host_queue_lines",
       &P::host_queue_lines,
       Unit::kCount,
       "further lines of a requester whose queues are in host memory",
       {1, 254}},
      {"shared_engine.responder_lines",
       &P::responder_lines,
       Unit::kCount,
       "cache lines of a responder",
       {1, 254}},
      {"shared_engine.dc_switch", &P::dc_switch, Unit::kTime,
       "transmit stage, when a DCI turns to another target"},
  };
}

}  // namespace

const std::vector<ParameterInfo>& SharedEngineParameters() {
  static const std::vector<ParameterInfo> parameters = MakeSharedEngineParameters();
  return parameters;
}

const std::vector<ParameterInfo>& Parameters() {
  static const std::vector<ParameterInfo> parameters = [] {
    std::vector<ParameterInfo> all = MakeGpuParameters();
    for (const auto& more : {MakeHostParameters(), MakeNicParameters()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return parameters;
}

Bounds BoundsOf(const ParameterInfo& info) {
  if (info.bounds.most > 0) return info.bounds;
  switch (info.unit) {
    case Unit::kTime:
      return {0, 1e9};
    case Unit::kMegahertz:
      return {100, 10000};
    case Unit::kGigabitsPerSecond:
      return {0.001, 1e6};
    case Unit::kBytes:
      return {1, 1 << 30};
    case Unit::kCount:
      return {1, 1 << 20};
  }
  return {};
}

const char* NameOf(Provenance provenance) {
  switch (provenance) {
    case Provenance::kPaper:
      return "paper";
    case Provenance::kDatasheet:
      return "datasheet";
    case Provenance::kMeasured:
      return "measured";
    case Provenance::kFitted:
      return "fitted";
    case Provenance::kAssumed:
      return "assumed";
  }
  return "fitted";
}

Duration TimeOf(const Parameter& parameter, double sm_clock_mhz) {
  return Duration::Ns(parameter.cycles * 1000.0 / sm_clock_mhz + parameter.ns);
}

}  // namespace ringpost::sim
