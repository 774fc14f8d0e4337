// The responder's stages, the wire between nodes, and the function's way to memory.
#include <cstring>

#include "sim/engine/check.h"
#include "sim/node/nic_node.h"

namespace ringpost::sim {

WorkItem& FabricContext::NewItem() {
  if (free_items == nullptr) {
    constexpr size_t kBlock = 1024;
    item_blocks.push_back(std::make_unique<WorkItem[]>(kBlock));
    for (size_t i = 0; i < kBlock; ++i) {
      item_blocks.back()[i].next = free_items;
      free_items = &item_blocks.back()[i];
    }
  }
  WorkItem& item = *free_items;
  free_items = item.next;
  const char* next = reinterpret_cast<const char*>(free_items);
  for (size_t i = 0; i < sizeof(WorkItem); i += 64) __builtin_prefetch(next + i, 1);
  return item;
}

void FabricContext::Free(WorkItem& item) {
  item.released.reset();
  item.next = free_items;
  free_items = &item;
}

NicNode::NicNode(FabricContext& fabric, uint32_t node,
                 std::unique_ptr<ContextCache> requester_cache,
                 std::unique_ptr<ContextCache> responder_cache)
    : fabric_(fabric),
      engine_(fabric.engine),
      memory_(fabric.memory),
      costs_(fabric.costs),
      nic_(node, fabric.costs.link.mtu, *this),
      requester_cache_(std::move(requester_cache)),
      responder_cache_(std::move(responder_cache)) {
  doorbells_.Attach(
      engine_,
      [](void* self, DoorbellItem& item) { static_cast<NicNode*>(self)->OnDoorbell(item); }, this);
  fetches_.Attach(
      engine_, [](void* self, DoorbellItem& item) { static_cast<NicNode*>(self)->OnFetched(item); },
      this);
  responses_.Attach(
      engine_, [](void* self, WorkItem& item) { static_cast<NicNode*>(self)->OnReadReady(item); },
      this);
  fabric_.nodes.push_back(this);
}

QueuePair& NicNode::CreateQp(const QpConfig& config) {
  QueuePair& qp = nic_.CreateQp(config);
  auto lane = std::make_unique<Lane>();
  lane->qp = &qp;
  lane->agent = memory_.AddAgent({AgentKind::kNic, static_cast<uint16_t>(nic_.Node()), 0, 0});
  lane->transmit = std::make_unique<Channel<WorkItem>>();
  lane->transmit->Attach(
      engine_, [](void* self, WorkItem& item) { static_cast<NicNode*>(self)->OnTransmit(item); },
      this);
  lanes_.push_back(std::move(lane));
  return qp;
}

// One FIFO for each ordered pair of nodes; made when first used.
Channel<WorkItem>& NicNode::WireTo(NicNode& peer) {
  const uint32_t index = peer.Node();
  if (wires_.size() <= index) wires_.resize(fabric_.nodes.size());
  if (wires_[index] == nullptr) {
    wires_[index] = std::make_unique<Channel<WorkItem>>();
    wires_[index]->Attach(
        engine_, [](void* self, WorkItem& item) { static_cast<NicNode*>(self)->OnReceive(item); },
        &peer);
    wires_[index]->PrepareWith([](void* self, WorkItem& item) {
      static_cast<NicNode*>(self)->memory_.Prefetch(item.work.remote_address);
      __builtin_prefetch(item.work.payload.data());
    });
  }
  return *wires_[index];
}

void NicNode::OnReceive(WorkItem& item) {
  switch (item.phase) {
    case Phase::kRequest:
      OnRequest(item);
      return;
    case Phase::kReadResponse:
      OnReadResponse(item);
      return;
    case Phase::kAck:
      OnAck(item);
      return;
  }
}

// Nothing of this WQE was sent: what comes back for it comes behind the answers to those before it.
void NicNode::PassBy(WorkItem& item) {
  const Lane& lane = LaneOf(item.work.peer_qpn);
  const Time turn = Later(Later(engine_.Now(), receive_.FreeAt()), lane.responder_free);
  item.phase = Phase::kAck;
  WireTo(*item.requester)
      .Put(turn + costs_.nic.receive + costs_.nic.latency * 2 + costs_.link.hop, item);
}

// A responder context miss stalls the receive pipe, which works in order.
void NicNode::OnRequest(WorkItem& item) {
  Work& work = item.work;
  if (!Sends(work)) {
    PassBy(item);
    return;
  }
  const Time now = engine_.Now();
  if (responder_cache_->Access(work.peer_qpn)) {
    ++nic_.Count().responder_context_hits;
  } else {
    ++nic_.Count().responder_context_misses;
    receive_.Block(now, costs_.nic.context_miss);
  }
  Lane& lane = LaneOf(work.peer_qpn);
  const uint32_t packets = work.IsRead() ? 1 : work.packets;
  Time done = receive_.Serve(now, costs_.nic.receive * packets);
  if (!fabric_.faults.Empty()) {
    done += fabric_.faults.Delay(FaultWhere::kResponder, item.requester->Node(),
                                 work.qpn - Nic::kFirstQpn, work.index);
    done = Later(done, lane.responder_free);
    lane.responder_free = done;
  }
  TakeOver(lane, item, false);
  dma_time_ = done;
  nic_.Respond(work);
  TraceStage(Stage::kRespond, work, now, done);
  if (work.status == WorkStatus::kDropped) {
    fabric_.Free(item);
  } else if (work.IsRead() && work.status == WorkStatus::kOk) {
    item.phase = Phase::kReadResponse;
    responses_.Put(done + ReadLatency(work.remote_address), item);
  } else if (work.Signalled() || work.status != WorkStatus::kOk) {
    SendAck(item, done);
  } else {
    fabric_.Free(item);
  }
}

// An acknowledgement speaks for all earlier messages of its QP; only signalled ones ask for it.
void NicNode::SendAck(WorkItem& item, Time from) {
  ++nic_.Count().acks_sent;
  Carry(item, LaneOf(item.work.peer_qpn), true);
  item.phase = Phase::kAck;
  WireTo(*item.requester)
      .Put(from + costs_.nic.latency + costs_.link.hop + costs_.nic.latency, item);
}

void NicNode::OnReadReady(WorkItem& item) {
  Carry(item, LaneOf(item.work.peer_qpn), true);
  WireTo(*item.requester)
      .Put(SerialiseOut(engine_.Now(), item.work.packets, item.work.bytes), item);
}

void NicNode::OnReadResponse(WorkItem& item) {
  Lane& lane = LaneOf(item.work.qpn);
  TakeOver(lane, item, true);
  dma_time_ = receive_.Serve(engine_.Now(), costs_.nic.receive * item.work.packets);
  nic_.PlaceResponse(item.work);
  item.phase = Phase::kAck;
  // The CQE is written behind the data.
  WireTo(*this).Put(dma_time_, item);
}

// What the sender's QP knows travels with its packets; an acknowledgement also vouches for what
// the responder has written itself.
void NicNode::Carry(WorkItem& item, const Lane& lane, bool with_self) {
  item.released = memory_.KnowledgeOf(lane.agent);
  item.released_by = lane.agent;
  item.released_stamp = with_self ? memory_.ReleaseFromDevice(lane.agent).stamp : 0;
}

void NicNode::TakeOver(Lane& lane, const WorkItem& item, bool with_self) {
  if (item.released == nullptr) return;
  if (!with_self && item.released == lane.accepted) return;
  Origin origin;
  origin.agent = item.released_by;
  origin.stamp = item.released_stamp;
  origin.released = item.released;
  origin.self_scope = with_self ? static_cast<int8_t>(ScopeIndex(Scope::kSystem)) : int8_t{-1};
  memory_.AcceptPacket(lane.agent, origin);
  if (!with_self) lane.accepted = item.released;
}

void NicNode::TraceStage(Stage stage, const Work& work, Time begin, Time end) {
  if (!fabric_.trace.On()) return;
  fabric_.trace.Add(TraceStep{stage, nic_.Node(), work.qpn, work.index, begin, end});
}

Duration NicNode::ReadLatency(uint64_t address) {
  const Region* region = memory_.Space().Find(address, 1);
  const bool gpu = region != nullptr && region->home.kind == HomeKind::kGpu;
  return gpu ? costs_.path.read_gpu : costs_.path.read_host;
}

Duration NicNode::WriteLatency(uint64_t address) {
  const Region* region = memory_.Space().Find(address, 1);
  const bool gpu = region != nullptr && region->home.kind == HomeKind::kGpu;
  return gpu ? costs_.path.write_gpu : costs_.path.write_host;
}

bool NicNode::ReadRecord(uint32_t qpn, uint64_t address, uint32_t* word) {
  Counters& count = nic_.Count();
  ++count.dma_reads;
  count.dma_read_bytes += sizeof(*word);
  const AgentId agent = LaneOf(qpn).agent;
  if (!memory_.ReadWordOnDevice({agent, address, engine_.Now(), {}}, word)) return false;
  // What is read next is read because of the record, not of the doorbell.
  if (fetching_ != nullptr) fetching_->basis = memory_.KnownOf(agent);
  return true;
}

bool NicNode::Read(uint32_t qpn, uint64_t address, void* bytes, uint64_t size) {
  Counters& count = nic_.Count();
  ++count.dma_reads;
  count.dma_read_bytes += size;
  const Access access{LaneOf(qpn).agent, address, engine_.Now(), {}};
  if (size != kLineBytes || address % kLineBytes != 0) return memory_.Copy(access, bytes, size);
  last_line_ = memory_.CopyLine(access, bytes);
  last_address_ = address;
  return last_line_ != nullptr;
}

void NicNode::Consume(uint32_t qpn, Purpose purpose, uint64_t index, uint64_t address,
                      uint64_t size) {
  if (!memory_.Reports().On()) return;
  const Lane& lane = LaneOf(qpn);
  if (purpose == Purpose::kRecord) {
    uint32_t record = 0;
    memory_.Peek(address, &record, sizeof(record));
    if (static_cast<int16_t>(abi::Swap32(record) - index) > 0) return;
  }
  ReadContext context;
  context.qpn = qpn;
  context.slot = index & (lane.qp->config.depth - 1);
  context.consumer = purpose == Purpose::kWqe      ? Consumer::kNicWqe
                     : purpose == Purpose::kRecord ? Consumer::kNicRecord
                                                   : Consumer::kNicPayload;
  const View* basis = nullptr;
  if (fetching_ != nullptr) {
    basis = &fetching_->basis;
    context.told_by = fetching_->origin.site.Unpack();
  }
  const Access access{lane.agent, address, engine_.Now(), {}};
  if (last_line_ != nullptr && address == last_address_ && size <= kLineBytes) {
    memory_.CheckLine(*last_line_, access, static_cast<uint32_t>(size), basis, context);
  } else {
    memory_.Check(access, size, basis, context);
  }
}

bool NicNode::Write(uint32_t qpn, uint64_t address, const void* bytes, uint64_t size) {
  Counters& count = nic_.Count();
  ++count.dma_writes;
  count.dma_write_bytes += size;
  Lane& lane = LaneOf(qpn);
  lane.last_write = Later(lane.last_write, dma_time_ + WriteLatency(address));
  return memory_.WriteFromDevice({lane.agent, address, lane.last_write, {}}, bytes, size);
}

bool NicNode::WriteCqe(uint32_t qpn, uint64_t address, const void* cqe) {
  Lane& lane = LaneOf(qpn);
  const Time served = cqe_.Serve(dma_time_, costs_.nic.cqe_service);
  lane.last_write = Later(lane.last_write, served + WriteLatency(address));
  cqe_visible_ = lane.last_write;
  if (fabric_.trace.On()) TraceCqeOf(qpn, static_cast<const uint8_t*>(cqe));
  return memory_.WriteFromDevice({lane.agent, address, lane.last_write, {}}, cqe, abi::kCqeBytes);
}

void NicNode::TraceCqeOf(uint32_t qpn, const uint8_t* cqe) {
  uint64_t tail = 0;
  std::memcpy(&tail, cqe + abi::kCqeTailOffset, sizeof(tail));
  const abi::CqeOpcode opcode = abi::TailOpcode(tail);
  const bool error = opcode == abi::CqeOpcode::kRequesterError;
  fabric_.trace.Add(TraceCqe{nic_.Node(), qpn, static_cast<uint8_t>(opcode),
                             error ? cqe[abi::kErrorSyndromeOffset] : uint8_t{0},
                             static_cast<uint16_t>(abi::TailCounter(tail))});
}

std::vector<StageUse> NicNode::Use() const {
  Duration serial;
  for (const auto& lane : lanes_) {
    if (serial < lane->serial.Busy()) serial = lane->serial.Busy();
  }
  return {{Stage::kDoorbell, doorbell_.Busy()},
          {Stage::kFetch, fetch_.Busy()},
          {Stage::kSerial, serial},
          {Stage::kTransmit, transmit_.Busy()},
          {Stage::kLink, link_.Busy()},
          {Stage::kReceive, receive_.Busy()},
          {Stage::kCqe, cqe_.Busy()}};
}

}  // namespace ringpost::sim
