// observation.h: what one NIC of a process writes down of itself while it runs: counters, and steps
// with their times. Who reads it does so after the process has ended, in whatever way.
//
// A file that the NIC's thread has mapped, and nobody else writes: an Observation, then `qps`
// QpCounters, then a ring of `steps` ObservedSteps. Numbers are the machine's own.
#pragma once

#include <atomic>
#include <cstdint>

namespace ringpost::sim::service {

struct QpCounters {
  uint64_t doorbells = 0;         // seen, that announced something
  uint64_t blocks_announced = 0;  // WQEBBs, by them and by records alone
  uint64_t records_trailed = 0;   // announced by a record that came after its doorbell was seen
  uint64_t wqes = 0;
  uint64_t packets_sent = 0;
  uint64_t packets_retransmitted = 0;
  uint64_t packets_received = 0;
  uint64_t timeouts = 0;
  uint64_t cqes = 0;
  uint64_t error_cqes = 0;
};

// visit(name, value) for each, as a JSON names them.
template <class F>
void ForEachCounter(const QpCounters& counters, F&& visit) {
  visit("doorbells", counters.doorbells);
  visit("wqebbs_announced", counters.blocks_announced);
  visit("records_trailed", counters.records_trailed);
  visit("wqes", counters.wqes);
  visit("packets_sent", counters.packets_sent);
  visit("packets_retransmitted", counters.packets_retransmitted);
  visit("packets_received", counters.packets_received);
  visit("timeouts", counters.timeouts);
  visit("cqes", counters.cqes);
  visit("error_cqes", counters.error_cqes);
}

constexpr QpCounters& operator+=(QpCounters& sum, const QpCounters& more) {
  sum.doorbells += more.doorbells;
  sum.blocks_announced += more.blocks_announced;
  sum.records_trailed += more.records_trailed;
  sum.wqes += more.wqes;
  sum.packets_sent += more.packets_sent;
  sum.packets_retransmitted += more.packets_retransmitted;
  sum.packets_received += more.packets_received;
  sum.timeouts += more.timeouts;
  sum.cqes += more.cqes;
  sum.error_cqes += more.error_cqes;
  return sum;
}

struct ObservedQp {
  uint32_t qpn = 0;
  uint32_t peer_qpn = 0;  // 0: several, or none yet
  QpCounters counters = {};
};

enum class StepKind : uint8_t {
  kDoorbell,  // a change of the page was seen, and WQEBBs [wqe, wqe + size) are announced
  kTrailed,   // the same without one: the record came later than its doorbell
  kUnrung,    // the same: the queue pair may send now, and had WQEs before
  kFetch,     // `code`: the WQE's opcode; `size`: its bytes
  kTransmit,  // a packet of WQE `wqe`; `code`: its opcode on the wire; `size`: of its payload
  kReceive,   // a packet for QP `qpn`
  kRespond,   // a packet that answers
  kCqe,       // `code`: its opcode; `wqe`: the counter that it names
};

// Begin and length are of the steady clock, in nanoseconds.
struct ObservedStep {
  uint64_t begin_ns = 0;
  uint64_t wqe = 0;  // its first WQEBB
  uint32_t length_ns = 0;
  uint32_t qpn = 0;
  uint32_t size = 0;
  uint32_t psn = 0;
  uint32_t peer_qpn = 0;  // kTransmit, kRespond: whom the packet is for
  StepKind kind = StepKind::kDoorbell;
  uint8_t code = 0;
  uint8_t syndrome = 0;  // of an error CQE or of an acknowledgement
  bool again = false;    // a packet that is sent once more
};
static_assert(sizeof(ObservedStep) == 40);

struct NamedCount {
  char name[40] = {};
  uint64_t value = 0;
};

struct Observation {
  static constexpr uint64_t kMagic = 0x31736276'6f706e72;
  static constexpr uint32_t kMostCounts = 96;

  uint64_t magic = kMagic;
  int64_t pid = 0;
  char program[32] = {};
  char device[46] = {};
  uint16_t device_number = 0;
  uint32_t qp_capacity = 0;
  uint32_t steps_capacity = 0;  // a power of two, or 0
  // Written behind what they count, with release: a reader, which comes when the process is gone,
  // needs no order, but a kill may come between any two stores.
  std::atomic<uint32_t> qps{0};
  std::atomic<uint32_t> counts{0};
  std::atomic<uint64_t> steps{0};  // ever; the ring has the last ones
  uint64_t qps_not_listed = 0;
  NamedCount count[kMostCounts];
};

constexpr uint64_t ObservationBytes(uint32_t qps, uint32_t steps) {
  return sizeof(Observation) + uint64_t{qps} * sizeof(ObservedQp) +
         uint64_t{steps} * sizeof(ObservedStep);
}

}  // namespace ringpost::sim::service
