// pace.h: when a platform's NIC would have completed what a live one has: its completions wait.
//
// The stages of virtual time (sim/node) with the platform's costs, for a peer that is idle and
// contexts that are at hand: a FIFO for each stage, from the doorbell to the CQE in memory. Only
// completions are held; what a put places at its target is there as soon as it arrives.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "sim/cost/cost_table.h"
#include "sim/engine/time.h"

namespace ringpost::sim::service {

struct PaceSpec {
  CostTable costs;
  bool queues_on_gpu = true;  // where the platform would have rings and CQs
  bool payload_on_gpu = true;
  // A GPU rang, over a bus that has delivered the doorbell by the time it is seen; a host thread's
  // is seen at once, and the platform's time for the delivery is yet to pass.
  bool doorbell_delivered = false;
};

// visit(name, number) for each cost that Pace uses; `costs` is a CostTable, const or not.
template <class Costs, class F>
void ForEachPaceCost(Costs& costs, F&& visit) {
  visit("doorbell_delivery_ps", costs.path.doorbell_delivery.ps);
  visit("read_gpu_ps", costs.path.read_gpu.ps);
  visit("read_host_ps", costs.path.read_host.ps);
  visit("write_gpu_ps", costs.path.write_gpu.ps);
  visit("write_host_ps", costs.path.write_host.ps);
  visit("doorbell_service_ps", costs.nic.doorbell_service.ps);
  visit("fetch_service_ps", costs.nic.fetch_service.ps);
  visit("qp_serial_ps", costs.nic.qp_serial.ps);
  visit("transmit_ps", costs.nic.transmit.ps);
  visit("receive_ps", costs.nic.receive.ps);
  visit("cqe_service_ps", costs.nic.cqe_service.ps);
  visit("latency_ps", costs.nic.latency.ps);
  visit("link_ps_per_byte", costs.link.ps_per_byte);
  visit("link_header_bytes", costs.link.header_bytes);
  visit("link_mtu", costs.link.mtu);
  visit("link_hop_ps", costs.link.hop.ps);
}

// What a WQE asks of the stages.
struct PacedWqe {
  uint64_t bytes = 0;
  uint32_t packets = 1;        // that carry them
  bool reads_payload = false;  // from memory, before it is sent
  bool answered = false;       // a READ or an atomic: the bytes come back
};

class Pace {
 public:
  using RealTime = std::chrono::steady_clock::time_point;
  // Of one QP.
  struct Lane {
    Time serial_free;
    Time last;  // the completion before
  };

  Pace(const PaceSpec& spec, RealTime now);

  Time At(RealTime now) const;
  RealTime Real(Time time) const;

  // A doorbell that announces so many blocks of 64 bytes was seen: when they have been fetched.
  Time Fetched(Time seen, uint64_t blocks);
  // When the WQE's CQE is in memory; calls for a QP in the order of its WQEs.
  Time Complete(Lane& lane, Time fetched, const PacedWqe& wqe);

 private:
  // A FIFO with one server.
  struct Stage {
    Time free;
    Time Serve(Time arrival, Duration service) { return free = Later(arrival, free) + service; }
  };
  Time Carry(Time from, uint64_t bytes, uint32_t packets, Stage& transmit, Stage& link,
             Stage& receive);
  Duration OneWay() const { return spec_.costs.nic.latency * 2 + spec_.costs.link.hop; }

  PaceSpec spec_;
  RealTime begin_;
  Stage doorbell_, fetch_, transmit_, link_, peer_receive_, cqe_;
  Stage peer_transmit_, peer_link_, receive_;  // of answers with data
};

// How late completions were, in nanoseconds, to 1 in 16.
class Lateness {
 public:
  void Add(uint64_t ns);
  uint64_t Count() const { return count_; }
  uint64_t Max() const { return max_; }
  uint64_t Percentile(uint64_t percent) const;  // 0 if there is none

 private:
  static constexpr uint32_t kPerDoubling = 16;
  std::array<uint64_t, 64 * kPerDoubling> buckets_{};
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

}  // namespace ringpost::sim::service
