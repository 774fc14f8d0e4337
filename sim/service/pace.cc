#include "sim/service/pace.h"

#include <algorithm>
#include <bit>

namespace ringpost::sim::service {

Pace::Pace(const PaceSpec& spec, RealTime now) : spec_(spec), begin_(now) {}

// Counted from the beginning, so that picoseconds last for 106 days of a run, not of the machine.
Time Pace::At(RealTime now) const {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(now - begin_).count() * 1000};
}

Pace::RealTime Pace::Real(Time time) const {
  return begin_ + std::chrono::nanoseconds((time.ps + 999) / 1000);
}

Time Pace::Fetched(Time seen, uint64_t blocks) {
  const CostTable& costs = spec_.costs;
  const Time there = spec_.doorbell_delivered ? seen : seen + costs.path.doorbell_delivery;
  const Time served = doorbell_.Serve(there, costs.nic.doorbell_service);
  const Time fetched = fetch_.Serve(served, costs.nic.fetch_service * static_cast<int64_t>(blocks));
  return fetched + (spec_.queues_on_gpu ? costs.path.read_gpu : costs.path.read_host);
}

// When the last packet has been through the receive stage at the other side.
Time Pace::Carry(Time from, uint64_t bytes, uint32_t packets, Stage& transmit, Stage& link,
                 Stage& receive) {
  const LinkCosts& costs = spec_.costs.link;
  uint64_t left = bytes;
  Time done = from;
  for (uint32_t i = 0; i < std::max(1u, packets); ++i) {
    const uint64_t part = std::min<uint64_t>(left, costs.mtu);
    left -= part;
    const Time sent = transmit.Serve(from, spec_.costs.nic.transmit);
    const Time on_link = link.Serve(sent, costs.Serialise(part + costs.header_bytes));
    done = receive.Serve(on_link + OneWay(), spec_.costs.nic.receive);
  }
  return done;
}

Time Pace::Complete(Lane& lane, Time fetched, const PacedWqe& wqe) {
  const CostTable& costs = spec_.costs;
  const Duration read = spec_.payload_on_gpu ? costs.path.read_gpu : costs.path.read_host;
  Time at = lane.serial_free = Later(lane.serial_free, fetched) + costs.nic.qp_serial;
  if (wqe.reads_payload) at += read;
  if (wqe.answered) {
    at = Carry(at, 0, 1, transmit_, link_, peer_receive_) + read;
    at = Carry(at, wqe.bytes, wqe.packets, peer_transmit_, peer_link_, receive_);
  } else {
    at = Carry(at, wqe.bytes, wqe.packets, transmit_, link_, peer_receive_) + OneWay();
  }
  at = cqe_.Serve(at, costs.nic.cqe_service);
  at += spec_.queues_on_gpu ? costs.path.write_gpu : costs.path.write_host;
  return lane.last = Later(lane.last, at);
}

void Lateness::Add(uint64_t ns) {
  const uint32_t doublings = static_cast<uint32_t>(std::max<int>(5, std::bit_width(ns))) - 5;
  ++buckets_[doublings * kPerDoubling + (ns >> doublings)];
  ++count_;
  max_ = std::max(max_, ns);
}

uint64_t Lateness::Percentile(uint64_t percent) const {
  uint64_t seen = 0;
  for (uint32_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (100 * seen < percent * count_ || buckets_[i] == 0) continue;
    // The first 32 buckets are exact, the others begin with their upper five bits.
    const uint32_t doublings = i < 2 * kPerDoubling ? 0 : i / kPerDoubling - 1;
    return uint64_t{i - doublings * kPerDoubling} << doublings;
  }
  return 0;
}

}  // namespace ringpost::sim::service
