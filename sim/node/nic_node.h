// nic_node.h: one NIC in virtual time: joins the function (sim/nic), the costs, the caches, the
// memory and the engine.
//
// A doorbell becomes a fetch; a fetch prices its WQEs through the QP's own stages; from then on
// QPs take turns at the transmit stage, a packet each. A packet is an event where it meets others:
// at that stage, and at its receiver. Between those points stages are folded into their
// recurrences. Times of one QP never go backwards, so its memory effects keep their order. Where
// the platform says so, one engine serves both directions (shared_engine.h).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/cost/cost_table.h"
#include "sim/nic/rnic.h"
#include "sim/nic/step.h"
#include "sim/node/context_role.h"
#include "sim/node/counters.h"
#include "sim/node/fabric_context.h"
#include "sim/node/lane.h"
#include "sim/node/on_chip.h"
#include "sim/node/shared_engine.h"
#include "sim/node/station.h"
#include "transport/abi/cqe.h"

namespace ringpost::sim {

class NicNode final : private Dma {
 public:
  NicNode(FabricContext& fabric, uint32_t node, OnChip on_chip);

  Rnic& Function() { return nic_; }
  uint32_t Node() const { return node_; }
  Counters Count() const;
  // Where packets for this node go.
  static Address AddressOf(uint32_t node) { return {.lid = static_cast<uint16_t>(node + 1)}; }
  const Address& OwnAddress() const { return address_; }
  // Creates the QP and what virtual time adds to it.
  Created CreateQp(const RnicQpConfig& config);

  // A thread stored `value` to the UAR at `when`, which is not before the engine's now, and `way`
  // from here.
  void Doorbell(Time when, Duration way, uint64_t value, const Origin& origin);
  // How long each stage was in service; of the per-QP stage, the busiest QP.
  std::vector<StageUse> Use() const;
  // Of the first send that failed: software may see only those flushed behind it.
  const std::optional<abi::Cqe>& FirstError() const { return first_error_; }

 private:
  friend class SharedEngine;
  Lane& LaneOf(uint32_t qpn) { return *lanes_[(qpn & 0xffff) - Rnic::kFirstQpn]; }
  // A sink of a channel whose context is a NicNode.
  template <auto kMethod, class Item>
  static void Takes(void* self, Item& item) {
    (static_cast<NicNode*>(self)->*kMethod)(item);
  }
  // One FIFO for each ordered pair of nodes; made when first used.
  Channel<PacketItem>& WireTo(const NicNode& peer) {
    if (peer.node_ < wires_.size() && wires_[peer.node_] != nullptr) [[likely]]
      return *wires_[peer.node_];
    return MakeWireTo(peer.node_);
  }
  Channel<PacketItem>& MakeWireTo(uint32_t peer);

  // overlay.cc: what is asked for on top, of packets, doorbells, fetches and CQEs
  void Launch(uint32_t peer, Time* last, PacketItem& item) {
    if (fabric_.watched || peer >= fabric_.nodes.size()) [[unlikely]] {
      LaunchWatched(peer, last, item);
    } else {
      WireTo(*fabric_.nodes[peer]).Put(*last, item);
    }
  }
  void LaunchWatched(uint32_t peer, Time* last, PacketItem& item);
  void Lose(PacketItem& item);
  static bool IsCorrupt(const PacketItem& item);
  void RingFaultyDoorbell(Time at, Duration way, uint64_t value, const Origin& origin);
  void Fetch(Lane& lane, Time due, uint64_t from, DoorbellItem& item);
  void OverlayCqe(Lane& lane, uint64_t address, const void* cqe);
  void OnCqeAgain(CqeItem& item);
  // requester_stages.cc
  void DeliverDoorbell(Time at, Duration way, uint64_t value, const Origin& origin);
  void OnDoorbell(DoorbellItem& item);
  void OnFetched(DoorbellItem& item);
  void Finish(DoorbellItem& item);
  void Price(Lane& lane);
  void Kick(Lane& lane);
  bool MayLeave(Lane& lane);
  bool Enqueue(Lane& lane);
  void Pump();
  static void OnTransmitFree(void* self);
  bool TransmitNext(Lane& lane);
  bool SendOne(Lane& lane);
  bool HasNext(Lane& lane);
  bool HoldsWqe(Lane& lane);
  void JoinQueue(Lane& lane);
  // When the stage is free and the link has room for what it makes.
  Time TransmitFree() const {
    return Later(transmit_.FreeAt(), Time{link_.FreeAt().ps - costs_.nic.transmit.ps});
  }
  // When the packet is at its receiver.
  Time SerialiseOut(Time from, uint64_t bytes) {
    const uint64_t wire_bytes = bytes + costs_.link.header_bytes;
    count_.wire_bytes_sent += wire_bytes;
    const Time sent = transmit_.Serve(from, costs_.nic.transmit);
    return link_.Serve(sent, costs_.link.Serialise(wire_bytes)) + costs_.nic.latency +
           costs_.link.hop + costs_.nic.latency;
  }
  // responder_stages.cc
  void OnArrival(PacketItem& item);
  void OnThroughPort(PacketItem& item);
  Time PassPort(const PacketItem& item);
  void OnNextArrival(PacketItem& item) { memory_.Prefetch(item.packet.remote_address); }
  void ArriveRequest(Lane& lane, PacketItem& item);
  // How long a request waits for what it needs of the tables, from now on.
  Duration FindForResponder(const wire::Packet& packet, uint32_t lines = 1);
  void Answer(Lane& lane, PacketItem& item, Time from, Time done);
  void Take(PacketItem& item, Time done);
  void ArriveResponse(Lane& lane, PacketItem& item);
  void Defer(Lane& lane, bool request, Time due, PacketItem& item);
  void Execute(Lane& lane, PacketItem& item, Time at);
  static void ExecuteNow(void* lane, PacketItem& item);
  void Respond(Lane& lane, Time at);
  void OnFunctionEvents();
  // timers.cc
  void Arm(Lane& lane, const TimerRequest& request) {
    if (request.arm) StartTimer(lane, request);
  }
  void StartTimer(Lane& lane, const TimerRequest& request);
  void OnTimer(Lane& lane);
  // dma.cc
  // What the sender's QP knows travels with its packets; an answer also vouches for what the
  // responder has written itself.
  void Carry(PacketItem& item, const Lane& lane, bool with_self) {
    item.released = memory_.KnowledgeOf(lane.agent);
    item.released_by = lane.agent;
    item.released_stamp = with_self ? memory_.ReleaseFromDevice(lane.agent).stamp : 0;
  }
  void TakeOver(Lane& lane, const PacketItem& item);
  void AcceptCarried(Lane& lane, const PacketItem& item);
  void TraceStage(Stage stage, uint32_t qpn, uint64_t wqe, Time begin, Time end) {
    if (fabric_.trace.On()) [[unlikely]] {
      fabric_.trace.Add(TraceStep{stage, node_, qpn, wqe, begin, end});
    }
  }
  void CheckConsumed(uint32_t qpn, Purpose purpose, uint64_t index, uint64_t address,
                     uint64_t size);
  void TraceCqeOf(uint32_t qpn, const uint8_t* cqe);
  bool OnGpu(uint64_t address) const;
  Duration ReadLatency(uint64_t address) const {
    return OnGpu(address) ? costs_.path.read_gpu : costs_.path.read_host;
  }
  Duration WriteLatency(uint64_t address) const {
    return OnGpu(address) ? costs_.path.write_gpu : costs_.path.write_host;
  }

  // Dma, for the function: at the times set by the stage that runs.
  bool ReadRecord(uint32_t qpn, uint64_t address, uint32_t* word) override;
  bool Read(uint32_t qpn, uint64_t address, void* bytes, uint64_t size) override;
  void Consume(uint32_t qpn, Purpose purpose, uint64_t index, uint64_t address,
               uint64_t size) override;
  bool Write(uint32_t qpn, uint64_t address, const void* bytes, uint64_t size) override;
  bool WriteCqe(uint32_t qpn, uint64_t address, const void* cqe) override;
  bool Modify(uint32_t qpn, uint64_t address, uint32_t bytes, NextFn next, const void* context,
              uint64_t* original) override;

  FabricContext& fabric_;
  Engine& engine_;
  Memory& memory_;
  const CostTable& costs_;
  uint32_t node_;
  const Address address_ = AddressOf(node_);
  Rnic nic_;
  NodeCounters count_;
  std::optional<abi::Cqe> first_error_;
  ContextRole requester_contexts_, responder_contexts_;
  std::unique_ptr<Translations> translations_;
  std::shared_ptr<HeldContexts> wqes_;  // null: none is dropped before it is sent
  std::vector<std::unique_ptr<Lane>> lanes_;
  ItemPool<DoorbellItem> doorbell_items_;
  Channel<DoorbellItem> doorbells_, fetches_;
  ItemPool<CqeItem> cqe_items_;
  Channel<CqeItem> cqes_again_;
  std::vector<std::unique_ptr<Channel<PacketItem>>> wires_;  // by receiving node
  Channel<PacketItem> queued_at_port_;
  Station doorbell_, fetch_, transmit_, link_, port_, receive_, cqe_;
  Station requester_lookup_;  // where a miss of the requester holds up all QPs
  Lane *first_queued_ = nullptr, *last_queued_ = nullptr;  // for turns at the transmit stage
  bool transmit_timed_ = false;
  uint32_t transmit_event_ = 0;
  std::unique_ptr<SharedEngine> shared_;  // null: each direction works for itself
  DoorbellItem* fetching_ = nullptr;
  bool read_ahead_ = false;  // the payload that is read now was checked when its WQE was fetched
  LinePlace last_block_;     // the one read last, at last_address_
  uint64_t last_address_ = 0;
  Time dma_time_;  // when the access of the stage that runs takes effect
};

}  // namespace ringpost::sim
