// The requester's stages: doorbell, fetch, per-QP serial stage, transmit, and completion.
#include "sim/engine/check.h"
#include "sim/node/nic_node.h"

namespace ringpost::sim {

void NicNode::Doorbell(Time when, uint64_t value, const Origin& origin) {
  if (free_doorbells_ == nullptr) {
    constexpr size_t kBlock = 256;
    doorbell_blocks_.push_back(std::make_unique<DoorbellItem[]>(kBlock));
    for (size_t i = 0; i < kBlock; ++i) {
      doorbell_blocks_.back()[i].next = free_doorbells_;
      free_doorbells_ = &doorbell_blocks_.back()[i];
    }
  }
  DoorbellItem& item = *free_doorbells_;
  free_doorbells_ = item.next;
  item.value = value;
  item.origin = origin;
  item.qp = nullptr;
  item.until = 0;
  doorbells_.Put(when + costs_.path.doorbell_delivery, item);
}

void NicNode::OnDoorbell(DoorbellItem& item) {
  const Time served = doorbell_.Serve(engine_.Now(), costs_.nic.doorbell_service);
  const uint32_t qpn = abi::DecodeDoorbell(item.value).qpn;
  QueuePair* qp = nullptr;
  if (nic_.FindQp(qpn) != nullptr) {
    Lane& lane = LaneOf(qpn);
    memory_.AcceptDoorbell(lane.agent, item.origin);
    item.basis = memory_.KnownOf(lane.agent);
    fetching_ = &item;
    dma_time_ = engine_.Now();
    const uint64_t before = lane.qp->producer;
    qp = nic_.RingDoorbell(item.value);
    if (qp != nullptr) {
      item.qp = qp;
      item.until = qp->producer;
      uint32_t record = 0;
      memory_.Peek(qp->config.record + abi::kRecordSendOffset, &record, sizeof(record));
      if (static_cast<uint16_t>(abi::Swap32(record) - qp->producer) > abi::kMaxDepthWqebbs) {
        ++nic_.Count().records_late;
      }
      if ((abi::Swap32(record) >> 16) != 0) ++nic_.Count().reserved_bits;
      const int64_t blocks = static_cast<int64_t>(qp->producer - before);
      const Time fetched = fetch_.Serve(served, costs_.nic.fetch_service * blocks);
      fetches_.Put(fetched + ReadLatency(qp->config.sq), item);
    }
    fetching_ = nullptr;
  }
  if (qp != nullptr) return;
  item.basis = {};
  item.origin.released.reset();
  item.next = free_doorbells_;
  free_doorbells_ = &item;
}

void NicNode::OnFetched(DoorbellItem& item) {
  QueuePair& qp = *item.qp;
  Lane& lane = LaneOf(qp.qpn);
  fetching_ = &item;
  dma_time_ = engine_.Now();
  uint32_t run = 0;
  while (run < fabric_.run_length && qp.fetched < item.until) {
    WorkItem& work = fabric_.NewItem();
    if (!nic_.FetchNext(qp, work.work)) {
      fabric_.Free(work);
      break;
    }
    work.requester = this;
    Launch(lane, work);
    ++run;
  }
  fetching_ = nullptr;
  if (run == fabric_.run_length && qp.fetched < item.until) {
    fetches_.PutBack(item);
    return;
  }
  item.basis = {};
  item.origin.released.reset();
  item.next = free_doorbells_;
  free_doorbells_ = &item;
}

// Context lookup, the QP's serial stage and the payload read, folded; ends at the transmit stage,
// where the QP meets others. A context miss holds up its own QP alone.
void NicNode::Launch(Lane& lane, WorkItem& item) {
  Work& work = item.work;
  Time arrival = engine_.Now();
  if (requester_cache_->Access(work.qpn)) {
    ++nic_.Count().requester_context_hits;
  } else {
    ++nic_.Count().requester_context_misses;
    lane.serial.Block(arrival, costs_.nic.context_miss);
  }
  Time ready = lane.serial.Serve(arrival, costs_.nic.qp_serial);
  TraceStage(Stage::kSerial, work, arrival, ready);
  item.reads_late = work.needs_payload && WaitsForReads(lane, work);
  if (!item.reads_late) nic_.ReadPayload(*lane.qp, work);
  if (work.IsRead() && work.status == WorkStatus::kOk) lane.reads.push_back(work.index);
  if (work.needs_payload && !item.reads_late && work.status == WorkStatus::kOk) {
    const Time read = ready + ReadLatency(work.local_address);
    TraceStage(Stage::kPayload, work, ready, read);
    ready = read;
  }
  if (!fabric_.faults.Empty()) {
    ready += fabric_.faults.Delay(FaultWhere::kRequester, nic_.Node(), work.qpn - Nic::kFirstQpn,
                                  work.index);
  }
  ready = Later(ready, lane.last_payload);
  lane.last_payload = ready;
  item.phase = Phase::kRequest;
  lane.transmit->Put(ready, item);
}

// A fenced WQE stays here until all READs before it have been placed.
bool NicNode::WaitsForReads(const Lane& lane, const Work& work) {
  return (work.flags & abi::kFenceReadsAtomics) != 0 && !lane.reads.empty() &&
         lane.reads.front() < work.index;
}

void NicNode::OnTransmit(WorkItem& item) {
  Lane& lane = LaneOf(item.work.qpn);
  if (lane.qp->state != QpState::kReady || lane.failed) {
    fabric_.Free(item);
    return;
  }
  if (WaitsForReads(lane, item.work) || !lane.held_fence.empty()) {
    lane.held_fence.push_back(&item);
    return;
  }
  Transmit(lane, item);
}

Time NicNode::SerialiseOut(Time from, uint32_t packets, uint64_t bytes) {
  Counters& count = nic_.Count();
  const uint64_t wire_bytes = bytes + uint64_t{packets} * costs_.link.header_bytes;
  count.packets_sent += packets;
  count.wire_bytes_sent += wire_bytes;
  const Time sent = transmit_.Serve(from, costs_.nic.transmit * packets);
  return link_.Serve(sent, costs_.link.Serialise(wire_bytes)) + costs_.nic.latency +
         costs_.link.hop + costs_.nic.latency;
}

void NicNode::Transmit(Lane& lane, WorkItem& item) {
  Work& work = item.work;
  const Time now = engine_.Now();
  Duration late;
  if (item.reads_late) {
    nic_.ReadPayload(*lane.qp, work);
    late = ReadLatency(work.local_address);
  }
  // A WQE that failed here sends nothing, and nothing behind it leaves; it keeps its place behind
  // the earlier ones' answers.
  NicNode& peer = *fabric_.nodes[lane.qp->peer_node];
  if (!Sends(work)) {
    lane.failed = work.status != WorkStatus::kOk;
    const Duration way = costs_.nic.latency * 2 + costs_.link.hop;
    lane.last_arrival = Later(Later(now, link_.FreeAt()) + way, lane.last_arrival);
    WireTo(peer).Put(lane.last_arrival, item);
    return;
  }
  const uint32_t packets = work.IsRead() ? 1 : work.packets;
  const Time sent = SerialiseOut(now, packets, work.IsRead() ? 0 : work.bytes);
  const Time arrives = Later(sent + late, lane.last_arrival);
  lane.last_arrival = arrives;
  TraceStage(Stage::kTransmit, work, now, arrives);
  Carry(item, lane, false);
  WireTo(peer).Put(arrives, item);
}

void NicNode::OnAck(WorkItem& item) {
  Lane& lane = LaneOf(item.work.qpn);
  TakeOver(lane, item, true);
  if (!lane.reads.empty() && lane.reads.front() < item.work.index) {
    lane.held_acks.push_back(&item);
    return;
  }
  Finish(lane, item);
}

// Completes the WQE; its CQE is visible once it has crossed to where the CQ lives.
void NicNode::Finish(Lane& lane, WorkItem& item) {
  const Time now = engine_.Now();
  dma_time_ = now;
  Work& work = item.work;
  if (work.status == WorkStatus::kOk) {
    nic_.Acknowledge(*lane.qp, work);
  } else {
    nic_.Fail(*lane.qp, work);
  }
  TraceStage(Stage::kCqe, work, now, Later(now, cqe_visible_));
  const bool read = work.IsRead();
  const uint64_t index = work.index;
  fabric_.Free(item);
  if (read) ReadDone(lane, index);
}

void NicNode::ReadDone(Lane& lane, uint64_t index) {
  while (!lane.reads.empty() && lane.reads.front() <= index) lane.reads.pop_front();
  while (!lane.held_acks.empty()) {
    WorkItem* held = lane.held_acks.front();
    if (!lane.reads.empty() && lane.reads.front() < held->work.index) break;
    lane.held_acks.pop_front();
    Finish(lane, *held);
  }
  if (lane.held_fence.empty() || WaitsForReads(lane, lane.held_fence.front()->work)) return;
  std::deque<WorkItem*> held;
  held.swap(lane.held_fence);
  for (WorkItem* item : held) OnTransmit(*item);
}

}  // namespace ringpost::sim
