// The requester's stages: doorbell, fetch, the QP's own stages, and turns at the transmit stage.
#include "sim/node/nic_node.h"
#include "transport/abi/doorbell.h"

namespace ringpost::sim {
namespace {

// Numbers of WQEs are compared as serial numbers.
bool Ahead(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

// Whether its payload lies in memory.
bool ReadsPayload(const SendWqe& wqe) {
  return wqe.bytes != 0 && !wqe.Is(kWqeInline | kWqeAnswered | kWqeLocal | kWqeFailed);
}

uint64_t IndexOf(const Requester& requester, uint16_t index) {
  const uint64_t fetched = requester.fetched;
  return fetched - static_cast<uint16_t>(static_cast<uint16_t>(fetched) - index);
}

}  // namespace

void NicNode::Doorbell(Time when, Duration way, uint64_t value, const Origin& origin) {
  if (fabric_.faults.At(FaultWhere::kDoorbell)) [[unlikely]] {
    RingFaultyDoorbell(when + way, way, value, origin);
  } else {
    DeliverDoorbell(when + way, way, value, origin);
  }
}

void NicNode::DeliverDoorbell(Time at, Duration way, uint64_t value, const Origin& origin) {
  DoorbellItem& item = doorbell_items_.Take();
  item.way = way;
  item.value = value;
  item.origin = origin;
  item.qp = nullptr;
  item.until = 0;
  doorbells_.Put(at, item);
}

void NicNode::Finish(DoorbellItem& item) {
  item.basis = {};
  item.origin.released.reset();
  doorbell_items_.Give(item);
}

void NicNode::OnDoorbell(DoorbellItem& item) {
  const Time served = doorbell_.Serve(engine_.Now(), costs_.nic.doorbell_service);
  const uint32_t qpn = abi::DecodeDoorbell(item.value).qpn;
  QpContext* qp = nic_.FindQp(qpn);
  if (qp != nullptr) {
    Lane& lane = LaneOf(qpn);
    memory_.AcceptDoorbell(lane.agent, item.origin);
    item.basis = memory_.KnownOf(lane.agent);
    fetching_ = &item;
    dma_time_ = engine_.Now();
    const uint64_t before = qp->requester.producer;
    qp = nic_.RingDoorbell(item.value);
    fetching_ = nullptr;
    if (qp != nullptr) {
      item.qp = qp;
      item.until = qp->requester.producer;
      uint32_t record = 0;
      memory_.Peek(qp->config.record + abi::kRecordSendOffset, &record, sizeof(record));
      if (static_cast<uint16_t>(abi::Swap32(record) - item.until) > abi::kMaxDepthWqebbs) {
        ++count_.records_late;
      }
      if ((abi::Swap32(record) >> 16) != 0) ++nic_.Count().reserved_bits;
      const int64_t blocks = static_cast<int64_t>(item.until - before);
      const Time fetched = fetch_.Serve(served, costs_.nic.fetch_service * blocks);
      // By BlueFlame a lone WQE comes with its doorbell, and is used once what stands before it is
      // there.
      const bool came_along = blocks == 1 && abi::DoorbellCarriesWqe(item.value);
      const Time read =
          came_along ? Later(fetched, lane.fetched) : fetched + ReadLatency(qp->config.sq);
      lane.fetched = Later(lane.fetched, read);
      if (blocks > 0) {
        const Time rung = Time{engine_.Now().ps - item.way.ps};
        TraceStage(Stage::kDoorbell, qpn, item.until - 1, rung, served);
        TraceStage(Stage::kFetch, qpn, item.until - 1, served, read);
      }
      Fetch(lane, read, before, item);
    }
  } else {
    nic_.RingDoorbell(item.value);
  }
  if (qp == nullptr) Finish(item);
}

// Context lookup, the QP's serial stage and the payload read of the WQE fetched last, folded. A
// context that is not at hand holds up its own QP alone, unless the platform says that look-ups are
// made in order; a shared engine looks it up for the QP's turn.
[[gnu::always_inline]] inline void NicNode::Price(Lane& lane) {
  const Requester& requester = lane.qp->requester;
  const SendWqe& wqe = requester.window.At(requester.tail - 1);
  const uint64_t index = IndexOf(requester, wqe.index);
  const Time arrival = engine_.Now();
  if (wqes_ != nullptr) [[unlikely]]
    wqes_->Find(arrival, WqeEntry(lane.qp->qpn, wqe.index), 1);
  Duration translation;
  if (translations_ != nullptr && ReadsPayload(wqe) && !wqe.Is(kWqeManySges)) [[unlikely]] {
    translation = translations_->Find(arrival, wqe.local_key, wqe.local_address, wqe.bytes);
  }
  if (shared_ == nullptr) [[likely]] {
    if (costs_.nic.requester_context.blocks_stage) [[unlikely]] {
      const Time begin = Later(arrival, requester_lookup_.FreeAt());
      const Duration wait = requester_contexts_.Find(begin, lane.qp->qpn);
      lane.serial.HoldUntil(requester_lookup_.Serve(arrival, wait + translation));
      translation = {};
    } else {
      lane.serial.Block(arrival, requester_contexts_.Find(arrival, lane.qp->qpn));
    }
  }
  Time ready = lane.serial.Serve(arrival, costs_.nic.qp_serial);
  TraceStage(Stage::kSerial, lane.qp->qpn, index, arrival, ready);
  const bool fenced = (wqe.flags & abi::kFenceReadsAtomics) != 0 && requester.rds != 0;
  if (ReadsPayload(wqe) && !fenced) {
    // Used because of the doorbell that announced the WQE.
    if (!wqe.Is(kWqeManySges)) {
      Consume(lane.qp->qpn, Purpose::kPayload, index, wqe.local_address, wqe.bytes);
    }
    const Time read = ready + translation + ReadLatency(wqe.local_address);
    TraceStage(Stage::kPayload, lane.qp->qpn, index, ready, read);
    ready = read;
  }
  if (fabric_.faults.At(FaultWhere::kRequester)) [[unlikely]] {
    ready += fabric_.faults
                 .Judge(FaultWhere::kRequester, {node_, lane.number, index, index + 1}, arrival)
                 .delay;
  }
  ready = Later(ready, lane.last_ready);
  lane.last_ready = ready;
  lane.PushReady(ready);
}

// Whether the lane has a packet for the transmit stage. What is still in the QP's own stages brings
// the lane back.
[[gnu::always_inline]] inline bool NicNode::MayLeave(Lane& lane) {
  const Requester& requester = lane.qp->requester;
  lane.state = LaneState::kIdle;
  if (requester.send == requester.tail) return false;
  if (!Ahead(requester.sent_end, requester.send) && !lane.ready.empty() &&
      engine_.Now() < lane.ready.front()) {
    lane.state = LaneState::kTimed;
    engine_.Schedule(lane.ready.front(), lane.ready_event);
    return false;
  }
  return true;
}

// Whether the lane now stands in the queue of the transmit stage.
[[gnu::always_inline]] inline bool NicNode::Enqueue(Lane& lane) {
  if (!MayLeave(lane)) return false;
  lane.state = LaneState::kQueued;
  lane.next_queued = nullptr;
  if (first_queued_ == nullptr) {
    first_queued_ = last_queued_ = &lane;
  } else {
    last_queued_ = last_queued_->next_queued = &lane;
  }
  return true;
}

void NicNode::OnFetched(DoorbellItem& item) {
  QpContext& qp = *item.qp;
  Lane& lane = LaneOf(qp.qpn);
  fetching_ = &item;
  dma_time_ = engine_.Now();
  Fetched fetched = Fetched::kWqe;
  for (uint32_t run = 0; run < fabric_.run_length && qp.requester.fetched < item.until; ++run) {
    fetched = nic_.FetchNext(qp);
    if (fetched != Fetched::kWqe) break;
    Price(lane);
  }
  fetching_ = nullptr;
  if (fetched == Fetched::kWqe && qp.requester.fetched < item.until) {
    // What leaves first may depend on what is behind it: it leaves when all is there.
    fetches_.PutBack(item);
    return;
  }
  if (fetched == Fetched::kWindowFull) {
    item.next = lane.stalled;
    lane.stalled = &item;
  } else {
    Finish(item);
  }
  if (lane.state == LaneState::kIdle && Enqueue(lane)) Pump();
}

// The lane may have something to send, or something again.
void NicNode::Kick(Lane& lane) {
  while (lane.stalled != nullptr) {
    const Requester& requester = lane.qp->requester;
    if (lane.qp->state == State::kReadyToSend &&
        requester.tail - requester.head >= lane.qp->config.sq_wqebbs) {
      break;
    }
    DoorbellItem& item = *lane.stalled;
    lane.stalled = item.next;
    Fetch(lane, engine_.Now(), item.until, item);
  }
  if (lane.state == LaneState::kIdle && Enqueue(lane)) Pump();
}

// Whether the WQE whose turn it is has stayed on chip since it was fetched. One that was dropped
// for others is fetched once more, and brings the lane back.
bool NicNode::HoldsWqe(Lane& lane) {
  const Requester& requester = lane.qp->requester;
  // One that is under way, or sent again, is at hand.
  if (Ahead(requester.sent_end, requester.send) || lane.read_again == requester.send) return true;
  const uint32_t entry = WqeEntry(lane.qp->qpn, requester.window.At(requester.send).index);
  if (wqes_->Find(engine_.Now(), entry, 1).where != Lookup::kMiss) {
    ++count_.wqe_hits;
    return true;
  }
  ++count_.wqe_misses;
  ++count_.dma_reads;
  count_.dma_read_bytes += abi::kWqebbBytes;
  lane.read_again = requester.send;
  lane.state = LaneState::kTimed;
  engine_.Schedule(engine_.Now() + ReadLatency(lane.qp->config.sq), lane.ready_event);
  return false;
}

// False if the lane has nothing that may leave now.
[[gnu::always_inline]] inline bool NicNode::TransmitNext(Lane& lane) {
  QpContext& qp = *lane.qp;
  Requester& requester = qp.requester;
  if (requester.send == requester.tail) {
    // Nothing, or an error has flushed what there was.
    lane.ready.clear();
    lane.first_unsent = requester.tail;
    return false;
  }
  if (wqes_ != nullptr && !HoldsWqe(lane)) [[unlikely]]
    return false;
  const SendWqe& wqe = requester.window.At(requester.send);
  const uint32_t stream = requester.stream;
  const Duration late =
      lane.fence_held && ReadsPayload(wqe) ? ReadLatency(wqe.local_address) : Duration();
  PacketItem& item = fabric_.packets.Take();
  dma_time_ = engine_.Now();
  read_ahead_ = !lane.fence_held && !wqe.Is(kWqeManySges);
  const Sent sent = nic_.NextPacket(qp, item.packet);
  read_ahead_ = false;
  Time at = engine_.Now();
  // What never sends a packet has its turn with what does.
  while (lane.first_unsent != requester.sent_end && !lane.ready.empty()) {
    at = Later(at, lane.ready.front());
    lane.ready.pop_front();
    ++lane.first_unsent;
  }
  if (qp.state != State::kReadyToSend) {
    lane.ready.clear();
    lane.first_unsent = requester.tail;
  }
  Arm(lane, sent.timer);
  if (nic_.HasEvents()) OnFunctionEvents();
  if (sent.status != SendStatus::kSent) {
    lane.fence_held = sent.blocked == Blocked::kFence;
    fabric_.packets.Give(item);
    return false;
  }
  lane.fence_held = false;
  item.from_node = node_;
  item.from_qp = lane.number;
  item.wqe = IndexOf(requester, static_cast<uint16_t>(sent.wqe_index));
  if (shared_ != nullptr) [[unlikely]] {
    const uint32_t peer = sent.to->lid - 1u;
    if (peer < fabric_.nodes.size()) shared_->TakeRoom(*fabric_.nodes[peer], item);
    if (requester.stream != stream) at = transmit_.Serve(at, costs_.nic.shared.dc_switch);
  }
  const Time arrives = SerialiseOut(at, item.packet.payload.size()) + late;
  lane.last_arrival = Later(arrives, lane.last_arrival);
  TraceStage(Stage::kTransmit, qp.qpn, item.wqe, at, transmit_.FreeAt());
  TraceStage(Stage::kLink, qp.qpn, item.wqe, transmit_.FreeAt(), lane.last_arrival);
  Carry(item, lane, false);
  Launch(sent.to->lid - 1u, &lane.last_arrival, item);
  return true;
}

// A packet each in turn, whenever the stage is free and the link has room for what it makes.
void NicNode::Pump() {
  if (shared_ != nullptr) [[unlikely]]
    return shared_->Run();
  while (first_queued_ != nullptr && !transmit_timed_) {
    const Time free = TransmitFree();
    if (engine_.Now() < free) {
      transmit_timed_ = true;
      engine_.Schedule(free, transmit_event_);
      return;
    }
    Lane& lane = *first_queued_;
    first_queued_ = lane.next_queued;
    // What is held up comes back when something changes: Kick.
    lane.state = LaneState::kIdle;
    if (TransmitNext(lane)) Enqueue(lane);
  }
}

// For a shared engine: a packet of a QP in its turn, whether the turn goes on, and its end.
bool NicNode::SendOne(Lane& lane) {
  lane.state = LaneState::kIdle;
  return TransmitNext(lane);
}

bool NicNode::HasNext(Lane& lane) {
  if (lane.state != LaneState::kIdle || !MayLeave(lane)) return false;
  lane.state = LaneState::kQueued;
  return true;
}

void NicNode::JoinQueue(Lane& lane) {
  if (lane.state == LaneState::kIdle) Enqueue(lane);
}

void NicNode::OnTransmitFree(void* self) {
  NicNode& node = *static_cast<NicNode*>(self);
  node.transmit_timed_ = false;
  node.Pump();
}

}  // namespace ringpost::sim
