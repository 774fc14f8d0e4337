// wire_faults.h: what goes wrong on a live NIC's wire, on purpose and by seed.
//
// The rules of sim/wire/faults.h for FaultWhere::kWire, applied to the packets that one NIC sends;
// its peers apply theirs. While its link is down nothing reaches it either. Streams and counts of a
// rule are each NIC's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/engine/time.h"
#include "sim/service/device.h"
#include "sim/wire/faults.h"
#include "sim/wire/packet.h"

namespace ringpost::sim::service {

struct WireFaultSpec {
  std::vector<FaultRule> rules;  // of the wire, and errors of WQEs
  uint32_t node = 0;             // which `FaultRule::node` means this NIC
  uint64_t seed = 1;
};

struct WireFaultCounters {
  uint64_t dropped = 0;
  uint64_t delayed = 0;
  uint64_t reordered = 0;
  uint64_t duplicated = 0;
  uint64_t corrupted = 0;
  uint64_t link_down = 0;  // lost as the link was down, in either direction
};

// visit(name, value) for each, as the JSON of a run names them.
template <class F>
void ForEachCounter(const WireFaultCounters& counters, F&& visit) {
  visit("faults_dropped", counters.dropped);
  visit("faults_delayed", counters.delayed);
  visit("faults_reordered", counters.reordered);
  visit("faults_duplicated", counters.duplicated);
  visit("faults_corrupted", counters.corrupted);
  visit("faults_link_down", counters.link_down);
}

class WireFaults {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Departure {
    Address target;
    wire::Packet packet;
  };

  explicit WireFaults(const WireFaultSpec& spec);

  // Whether Put() need be asked.
  bool Any() const { return faults_.At(FaultWhere::kWire); }
  // The packet is to leave. `free` is of its QP and direction: when the one before it leaves.
  void Put(const FaultPoint& point, Time now, Time& free, const Address& target,
           const wire::Packet& packet);
  // A packet has come; false: it is lost, as the link is down.
  bool Takes(Time now);
  // What else the rules say: FaultKind::kError is not of the wire.
  const std::vector<FaultRule>& Rules() const { return faults_.Rules(); }
  // The packet that is due first; null if none is. Pop() removes it.
  const Departure* Due(Time now) const;
  void Pop() { departures_.erase(departures_.begin()); }
  Time Next() const { return departures_.empty() ? Time::max() : departures_.begin()->first.first; }
  uint32_t Node() const { return node_; }
  const WireFaultCounters& Count() const { return count_; }

 private:
  sim::Time At(Time now);
  void Add(Time due, const Address& target, const wire::Packet& packet);

  Faults faults_;
  uint32_t node_;
  std::optional<Time> begin_;  // when it was first asked
  uint64_t order_ = 0;
  std::map<std::pair<Time, uint64_t>, Departure> departures_;  // by time, then in order of Put()
  WireFaultCounters count_;
};

}  // namespace ringpost::sim::service
