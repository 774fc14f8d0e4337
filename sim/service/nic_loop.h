// nic_loop.h: one software NIC in real time: drives sim/nic over this process's memory and a port
// to its peers, one bounded turn after another.
//
//   NicLoop nic(config, std::move(port));
//   nic.Memory().Allow(ring, bytes); nic.CreateQp(qp_config, page);
//   while (running) if (!nic.Turn(now)) Idle();
//
// Single-threaded: NicService owns the thread. A turn scans doorbells, takes packets, answers,
// sends, and runs timers. QPs take turns of kBurst packets. Where a peer's ring is full, the packet
// is held for up to kHold, as credits of a lossless link would hold it, and nothing else leaves;
// then it is lost, as the peer is taken to be stuck. One whose thread waits for a core is not: over
// UC nothing would be sent again.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "sim/nic/rnic.h"
#include "sim/service/doorbell_pages.h"
#include "sim/service/observer.h"
#include "sim/service/paced_completions.h"
#include "sim/service/packet_log.h"
#include "sim/service/packet_port.h"
#include "sim/service/process_dma.h"
#include "sim/service/wire_faults.h"
#include "transport/device_access.h"

namespace ringpost::sim::service {

struct LoopCounters {
  uint64_t turns = 0;
  uint64_t idle_turns = 0;
  uint64_t doorbells = 0;  // changes seen of a page
  uint64_t announced = 0;  // WQEBBs that records announced then, or later
  uint64_t trailed = 0;    // records that came later than the doorbell before was seen
  uint64_t held = 0;       // packets that met a full ring
  uint64_t lost = 0;       // of these, given up
};

// visit(name, value) for each, as the JSON of a run names them.
template <class F>
void ForEachCounter(const LoopCounters& counters, F&& visit) {
  visit("loop_turns", counters.turns);
  visit("loop_idle_turns", counters.idle_turns);
  visit("loop_doorbells", counters.doorbells);
  visit("loop_wqebbs_announced", counters.announced);
  visit("loop_records_trailed", counters.trailed);
  visit("loop_packets_held", counters.held);
  visit("loop_packets_lost", counters.lost);
}

// What is put on top of a NIC and its wire.
struct LoopOverlay {
  std::optional<PaceSpec> pace = {};
  WireFaultSpec faults = {};
  std::optional<ObserverSpec> observer = {};
  std::string packet_log = {};  // a file; empty: none
  Address address = {};         // of the device, for the log
  OnFileFailure on_failure = {};
};

class NicLoop {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using OnEvent = std::function<void(const AsyncEvent&)>;
  static constexpr std::chrono::milliseconds kHold{1000};

  NicLoop(const RnicConfig& config, std::unique_ptr<PacketPort> port, OnEvent on_event = {},
          const LoopOverlay& overlay = {});
  ~NicLoop();

  Rnic& Function() { return nic_; }
  ProcessDma& Memory() { return dma_; }
  PacketPort& Port() { return *port_; }
  const LoopCounters& Count() const { return count_; }
  const WireFaultCounters& Faults() const { return faults_.Count(); }
  PaceCounters Paced() const { return pace_ ? pace_->Count() : PaceCounters(); }

  // `page`: the UAR page where its doorbells ring; 0: it has none, as a DCT. The caller has allowed
  // the queues' memory, and forbids it after DestroyQp().
  Created CreateQp(const RnicQpConfig& config, uint64_t page);
  std::string DestroyQp(uint32_t qpn);
  std::string ModifyQp(uint32_t qpn, const QpAttributes& attributes, uint32_t mask);
  Created CreateCq(const CqConfig& config, uint64_t page);
  std::string DestroyCq(uint32_t cqn);
  void ArmSrqLimit(uint32_t srqn, uint32_t limit);
  // Devices are about to end: accesses to their memory are refused from here on.
  void DropDevices();

  // Whether there was anything to do.
  bool Turn(Time now);
  // When the earliest timer runs out, or what is held back is due; not before that can an idle NIC
  // have work of its own.
  Time NextTimer() const {
    const Time timer = timers_.empty() ? Time::max() : timers_.top().due;
    return std::min({timer, faults_.Next(), pace_ ? pace_->Next() : Time::max()});
  }

 private:
  // What real time adds to a QP.
  struct Lane {
    QpContext* qp = nullptr;
    bool sends = false;    // stands in sending_
    bool answers = false;  // stands in answering_
    // When the last request and the last answer leave a wire with faults.
    Time leaves[2] = {};
    // Where its send queue and record are a device's: that, and the record's address.
    DeviceAccess* device = nullptr;
    uint64_t record = 0;
  };
  struct Timer {
    Time due;
    uint32_t qpn;
    TimerKind kind;
    uint32_t generation;
    bool operator>(const Timer& other) const { return due > other.due; }
  };
  struct Held {
    bool full = false;
    wire::Packet packet;
    Address target;
    Time since;
  };

  static constexpr uint64_t kTurnsPerCounts = 1024;  // how old they are at most, where observed
  static constexpr uint32_t kPages = 64;             // looked at in a turn
  static constexpr uint32_t kPackets = 64;           // taken in a turn
  static constexpr uint32_t kLanes = 16;             // that send, or answer, in a turn
  static constexpr uint32_t kBurst = 16;             // packets, and WQEs fetched, of one of them

  Lane* FindLane(uint32_t qpn);
  void Watch(Lane& lane, const RnicQpConfig& config);
  void InjectErrors(QpContext& qp, uint32_t number);
  void Send(Lane& lane);
  void Answer(Lane& lane);
  // Why a record is looked at: it was rung for, this is the second look, or the QP may send now.
  enum class Look : uint8_t { kRung, kAgain, kUnrung };
  void Refresh(uint32_t qpn, Look look);
  void Arm(uint32_t qpn, const TimerRequest& request);
  void Take(const Facts& facts);
  void TakeEvents();
  bool ReceiveSome();
  bool AnswerSome();
  bool AnswerBurst(Lane& lane);
  bool SendSome();
  bool SendBurst(Lane& lane);
  bool RunTimers();
  bool Launch(Lane& lane, const sim::Address& to, uint64_t wqe, bool answer);
  bool LaunchFaulty(Lane& lane, const Address& to, uint64_t wqe, bool answer);
  bool Depart(const Address& target, const wire::Packet& packet);
  void DepartDue();
  bool LetGo();
  bool WasFull();
  uint64_t Begin() const { return observer_ == nullptr ? 0 : Observer::Now(); }
  void WriteCounts();

  ProcessDma dma_;
  std::unique_ptr<PacketPort> port_;
  Rnic nic_;
  OnEvent on_event_;
  DoorbellPages pages_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::deque<Lane*> sending_;
  std::deque<Lane*> answering_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  Held held_;
  WireFaults faults_;
  std::optional<PacedCompletions> pace_;
  wire::Packet packet_;  // the one that leaves; keeps its capacity
  Arrival arrival_;
  Time now_{};
  uint64_t times_full_ = 0;
  LoopCounters count_;
  bool was_busy_ = false;  // the turn before
  // Null: off.
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<PacketLog> packet_log_;
};

}  // namespace ringpost::sim::service
