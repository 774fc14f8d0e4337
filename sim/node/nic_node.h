// nic_node.h: one NIC in virtual time: joins the function (sim/nic), the costs, the caches, the
// memory and the engine.
//
// A doorbell becomes a fetch, a fetch a run of WQEs, each WQE an event where it meets other flows:
// at the transmit stage, and at the receiver. Between those points stages are folded into their
// recurrences. Times of one QP never go backwards, so its memory effects keep their order.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "sim/cache/context_cache.h"
#include "sim/cost/cost_table.h"
#include "sim/engine/engine.h"
#include "sim/memory/memory.h"
#include "sim/nic/nic.h"
#include "sim/node/station.h"
#include "sim/node/trace.h"
#include "sim/wire/faults.h"

namespace ringpost::sim {

class NicNode;

// What a WQE is doing when its item leaves a channel.
enum class Phase : uint8_t { kRequest, kReadResponse, kAck };

struct WorkItem {
  WorkItem* next = nullptr;
  Time due;
  uint64_t sequence = 0;
  Phase phase = Phase::kRequest;
  bool reads_late = false;  // a fenced WRITE: its payload is read once the fence lets it go
  NicNode* requester = nullptr;
  ReleasedRef released;  // what the sending QP knew
  AgentId released_by = 0;
  uint64_t released_stamp = 0;
  Work work;
};

struct DoorbellItem {
  DoorbellItem* next = nullptr;
  Time due;
  uint64_t sequence = 0;
  uint64_t value = 0;
  Origin origin;
  QueuePair* qp = nullptr;
  uint64_t until = 0;  // WQEBBs that this doorbell announced
  View basis;          // what the NIC knew when it was told
};

// All that the nodes of one fabric share.
struct FabricContext {
  Engine& engine;
  Memory& memory;
  const CostTable& costs;
  const Faults& faults;
  Trace& trace;
  uint32_t run_length = 64;  // WQEs parsed at one go; changes no result
  std::vector<NicNode*> nodes = {};
  std::vector<std::unique_ptr<WorkItem[]>> item_blocks = {};
  WorkItem* free_items = nullptr;

  WorkItem& NewItem();
  void Free(WorkItem& item);
};

struct StageUse {
  Stage stage;
  Duration busy;
};

class NicNode final : private Dma {
 public:
  NicNode(FabricContext& fabric, uint32_t node, std::unique_ptr<ContextCache> requester_cache,
          std::unique_ptr<ContextCache> responder_cache);

  Nic& Function() { return nic_; }
  uint32_t Node() const { return nic_.Node(); }
  QueuePair& CreateQp(const QpConfig& config);

  // A thread stored `value` to the UAR at `when`, which is not before the engine's now.
  void Doorbell(Time when, uint64_t value, const Origin& origin);
  // How long each stage was in service; of the per-QP stage, the busiest QP.
  std::vector<StageUse> Use() const;

 private:
  // What virtual time adds to a QP.
  struct Lane {
    QueuePair* qp = nullptr;
    AgentId agent = 0;
    Station serial;
    Time last_payload;  // pointer payloads leave in order
    Time last_write;    // memory effects keep their order
    Time responder_free;
    ReleasedRef accepted;              // last packet view taken over
    Time last_arrival;                 // at the peer
    bool failed = false;               // a WQE has failed here: no later one leaves
    std::deque<uint64_t> reads;        // indices of READs not yet placed
    std::deque<WorkItem*> held_fence;  // a fenced WQE and those behind it
    std::deque<WorkItem*> held_acks;   // acknowledged, behind a READ
    std::unique_ptr<Channel<WorkItem>> transmit;
  };

  Lane& LaneOf(uint32_t qpn) { return *lanes_[qpn - Nic::kFirstQpn]; }
  Channel<WorkItem>& WireTo(NicNode& peer);

  void OnDoorbell(DoorbellItem& item);
  void OnFetched(DoorbellItem& item);
  void Launch(Lane& lane, WorkItem& item);
  void OnTransmit(WorkItem& item);
  static bool WaitsForReads(const Lane& lane, const Work& work);
  void Transmit(Lane& lane, WorkItem& item);
  // A NOP sends nothing, nor does a WQE that failed before it left.
  static bool Sends(const Work& work) {
    return work.status == WorkStatus::kOk && work.opcode != abi::Opcode::kNop;
  }
  void PassBy(WorkItem& item);
  void OnReceive(WorkItem& item);
  void OnRequest(WorkItem& item);
  void OnReadReady(WorkItem& item);
  void OnReadResponse(WorkItem& item);
  void OnAck(WorkItem& item);
  void Finish(Lane& lane, WorkItem& item);
  void ReadDone(Lane& lane, uint64_t index);
  void SendAck(WorkItem& item, Time from);
  Time SerialiseOut(Time from, uint32_t packets, uint64_t bytes);
  void Carry(WorkItem& item, const Lane& lane, bool with_self);
  void TakeOver(Lane& lane, const WorkItem& item, bool with_self);
  void TraceCqeOf(uint32_t qpn, const uint8_t* cqe);
  void TraceStage(Stage stage, const Work& work, Time begin, Time end);
  Duration ReadLatency(uint64_t address);
  Duration WriteLatency(uint64_t address);

  // Dma, for the function: at the times set by the stage that runs.
  bool ReadRecord(uint32_t qpn, uint64_t address, uint32_t* word) override;
  bool Read(uint32_t qpn, uint64_t address, void* bytes, uint64_t size) override;
  void Consume(uint32_t qpn, Purpose purpose, uint64_t index, uint64_t address,
               uint64_t size) override;
  bool Write(uint32_t qpn, uint64_t address, const void* bytes, uint64_t size) override;
  bool WriteCqe(uint32_t qpn, uint64_t address, const void* cqe) override;

  FabricContext& fabric_;
  Engine& engine_;
  Memory& memory_;
  const CostTable& costs_;
  Nic nic_;
  std::unique_ptr<ContextCache> requester_cache_;
  std::unique_ptr<ContextCache> responder_cache_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<DoorbellItem[]>> doorbell_blocks_;
  DoorbellItem* free_doorbells_ = nullptr;
  Channel<DoorbellItem> doorbells_;
  Channel<DoorbellItem> fetches_;
  Channel<WorkItem> responses_;
  std::vector<std::unique_ptr<Channel<WorkItem>>> wires_;  // by receiving node
  Station doorbell_, fetch_, transmit_, link_, receive_, cqe_;
  DoorbellItem* fetching_ = nullptr;
  Line* last_line_ = nullptr;  // the block read last, at last_address_
  uint64_t last_address_ = 0;
  Time dma_time_;  // when the access of the stage that runs takes effect
  Time cqe_visible_;
};

}  // namespace ringpost::sim
