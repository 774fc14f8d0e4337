// paced_completions.h: CQEs of a live NIC that wait until its platform's time for them has come.
//
// On the NIC's thread alone.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/nic/qp_context.h"
#include "sim/service/pace.h"
#include "sim/service/process_dma.h"
#include "transport/abi/cqe.h"

namespace ringpost::sim::service {

struct PaceCounters {
  uint64_t held = 0;  // came in time, and waited
  uint64_t late = 0;  // came when the platform's time had passed; written at once
  uint64_t late_median_ns = 0;
  uint64_t late_p99_ns = 0;
  uint64_t late_max_ns = 0;
};

// visit(name, value) for each, as a JSON names them.
template <class F>
void ForEachCounter(const PaceCounters& counters, F&& visit) {
  visit("pace_held", counters.held);
  visit("pace_late", counters.late);
  visit("pace_late_median_ns", counters.late_median_ns);
  visit("pace_late_p99_ns", counters.late_p99_ns);
  visit("pace_late_max_ns", counters.late_max_ns);
}

class PacedCompletions {
 public:
  using RealTime = Pace::RealTime;

  PacedCompletions(const PaceSpec& spec, RealTime now) : pace_(spec, now) {}

  // A doorbell has moved the QP's producer index from `before` to where it is.
  void Announce(const QpContext& qp, uint64_t before, RealTime now);
  // The QP's last WQE in its window has just been fetched.
  void Fetched(const QpContext& qp);
  // Keeps the CQE; Release() writes what is due. Those of a QP keep their order.
  void Hold(uint32_t qpn, uint64_t address, const void* cqe, RealTime now);
  void Release(ProcessDma& memory, RealTime now);
  // The QP is destroyed, and where its CQEs would go may be anybody's.
  void Forget(uint32_t qpn);

  RealTime Next() const { return held_.empty() ? RealTime::max() : held_.begin()->first.first; }
  PaceCounters Count() const;

 private:
  struct Run {
    uint64_t until;  // in WQEBBs
    Time fetched;
  };
  struct Lane {
    Pace::Lane pace;
    std::deque<Run> runs;    // announced, of which some WQE has not been fetched
    std::vector<Time> dues;  // by the WQE's first WQEBB, modulo the ring
    uint16_t fetched = 0;    // WQEBBs, modulo 2^16
    RealTime last_held;      // when the last CQE that was held is due
  };
  struct Cqe {
    uint32_t qpn;
    uint64_t address;
    std::array<uint8_t, abi::kCqeBytes> bytes;
  };

  Pace pace_;
  std::unordered_map<uint32_t, Lane> lanes_;
  std::map<std::pair<RealTime, uint64_t>, Cqe> held_;  // by time, then in order of Hold()
  uint64_t order_ = 0;
  uint64_t in_time_ = 0;
  Lateness lateness_;
};

}  // namespace ringpost::sim::service
