// The NIC's object itself, and its function's way to memory.
#include <cstring>

#include "sim/node/nic_node.h"

namespace ringpost::sim {
namespace {

RnicConfig OnLink(RnicConfig config, const CostTable& costs) {
  config.mtu = costs.link.mtu;
  return config;
}

}  // namespace

NicNode::NicNode(FabricContext& fabric, uint32_t node, OnChip on_chip)
    : fabric_(fabric),
      engine_(fabric.engine),
      memory_(fabric.memory),
      costs_(fabric.costs),
      node_(node),
      nic_(OnLink(fabric.nic, fabric.costs), *this),
      requester_contexts_(std::move(on_chip.of_requester)),
      responder_contexts_(std::move(on_chip.of_responder), costs_.nic.shared.RequesterLines()),
      translations_(std::move(on_chip.translations)),
      wqes_(std::move(on_chip.wqes)) {
  doorbells_.Attach<&Takes<&NicNode::OnDoorbell, DoorbellItem>>(engine_, this);
  fetches_.Attach<&Takes<&NicNode::OnFetched, DoorbellItem>>(engine_, this);
  queued_at_port_.Attach<&Takes<&NicNode::OnThroughPort, PacketItem>>(engine_, this);
  cqes_again_.Attach<&Takes<&NicNode::OnCqeAgain, CqeItem>>(engine_, this);
  transmit_event_ = engine_.Register(&NicNode::OnTransmitFree, this);
  if (costs_.nic.shared.used) shared_ = std::make_unique<SharedEngine>(*this);
  fabric_.nodes.push_back(this);
}

Created NicNode::CreateQp(const RnicQpConfig& config) {
  const Created created = nic_.CreateQp(config);
  if (!created.Ok()) return created;
  auto lane = std::make_unique<Lane>();
  lane->node = this;
  lane->qp = nic_.FindQp(created.number);
  lane->number = static_cast<uint32_t>(lanes_.size());
  lane->agent = memory_.AddAgent({AgentKind::kNic, static_cast<uint16_t>(node_), 0, 0});
  lane->ready_event = engine_.Register(
      [](void* self) {
        Lane& its = *static_cast<Lane*>(self);
        its.state = LaneState::kIdle;
        its.node->Kick(its);
      },
      lane.get());
  lane->respond_event = engine_.Register(
      [](void* self) {
        Lane& its = *static_cast<Lane*>(self);
        its.respond_timed = false;
        its.node->Respond(its, its.node->engine_.Now());
      },
      lane.get());
  lane->timer_event = engine_.RegisterTimer(
      [](void* self) { static_cast<Lane*>(self)->node->OnTimer(*static_cast<Lane*>(self)); },
      [](void* self) {
        const Requester& requester = static_cast<Lane*>(self)->qp->requester;
        return requester.head != requester.sent_end || requester.rnr_wait;
      },
      lane.get());
  lanes_.push_back(std::move(lane));
  return created;
}

Counters NicNode::Count() const {
  Counters all;
  static_cast<RnicCounters&>(all) = nic_.Count();
  static_cast<NodeCounters&>(all) = count_;
  all.requester_context_hits = requester_contexts_.Hits();
  all.requester_context_second_level_hits = requester_contexts_.SecondLevelHits();
  all.requester_context_misses = requester_contexts_.Misses();
  all.requester_context_evictions = requester_contexts_.Evictions();
  all.responder_context_hits = responder_contexts_.Hits();
  all.responder_context_second_level_hits = responder_contexts_.SecondLevelHits();
  all.responder_context_misses = responder_contexts_.Misses();
  all.responder_context_evictions = responder_contexts_.Evictions();
  if (translations_ == nullptr) return all;
  all.mpt_hits = translations_->MptHits();
  all.mpt_misses = translations_->MptMisses();
  all.mtt_hits = translations_->MttHits();
  all.mtt_misses = translations_->MttMisses();
  return all;
}

bool NicNode::OnGpu(uint64_t address) const {
  const Region* region = memory_.Space().Find(address, 1);
  return region != nullptr && region->home.kind == HomeKind::kGpu;
}

bool NicNode::ReadRecord(uint32_t qpn, uint64_t address, uint32_t* word) {
  ++count_.dma_reads;
  count_.dma_read_bytes += sizeof(*word);
  const AgentId agent = LaneOf(qpn).agent;
  if (!memory_.ReadWordOnDevice({agent, address, engine_.Now(), {}}, word)) return false;
  // What is read next is read because of the record, not of the doorbell.
  if (fetching_ != nullptr) fetching_->basis = memory_.KnownOf(agent);
  return true;
}

bool NicNode::Read(uint32_t qpn, uint64_t address, void* bytes, uint64_t size) {
  ++count_.dma_reads;
  count_.dma_read_bytes += size;
  const AgentId agent = LaneOf(qpn).agent;
  if (size != kLineBytes || address % kLineBytes != 0) [[unlikely]] {
    return memory_.Copy({agent, address, engine_.Now(), {}}, bytes, size);
  }
  last_block_ = memory_.CopyLine(agent, address, bytes);
  last_address_ = address;
  return last_block_.line != nullptr;
}

void NicNode::Consume(uint32_t qpn, Purpose purpose, uint64_t index, uint64_t address,
                      uint64_t size) {
  if (!memory_.Reports().On() || (read_ahead_ && purpose == Purpose::kPayload)) return;
  if (fetching_ != nullptr && last_block_.line != nullptr && address == last_address_ &&
      size <= kLineBytes &&
      memory_.IsOrdered(last_block_, static_cast<uint32_t>(size), LaneOf(qpn).agent,
                        fetching_->basis)) [[likely]] {
    return;
  }
  CheckConsumed(qpn, purpose, index, address, size);
}

void NicNode::CheckConsumed(uint32_t qpn, Purpose purpose, uint64_t index, uint64_t address,
                            uint64_t size) {
  const Lane& lane = LaneOf(qpn);
  if (purpose == Purpose::kRecord) {
    uint32_t record = 0;
    memory_.Peek(address, &record, sizeof(record));
    if (static_cast<int16_t>(abi::Swap32(record) - index) > 0) return;
  }
  ReadContext context;
  context.qpn = qpn;
  context.slot = index & (lane.qp->config.sq_wqebbs - 1);
  context.consumer = purpose == Purpose::kWqe      ? Consumer::kNicWqe
                     : purpose == Purpose::kRecord ? Consumer::kNicRecord
                                                   : Consumer::kNicPayload;
  if (fetching_ != nullptr) context.told_by = fetching_->origin.site.Unpack();
  const View* basis = fetching_ != nullptr ? &fetching_->basis : nullptr;
  memory_.Check({lane.agent, address, engine_.Now(), {}}, size, basis, context);
}

bool NicNode::Write(uint32_t qpn, uint64_t address, const void* bytes, uint64_t size) {
  ++count_.dma_writes;
  count_.dma_write_bytes += size;
  Lane& lane = LaneOf(qpn);
  lane.last_write = Later(lane.last_write, dma_time_ + WriteLatency(address));
  return memory_.WriteFromDevice({lane.agent, address, lane.last_write, {}}, bytes, size);
}

bool NicNode::WriteCqe(uint32_t qpn, uint64_t address, const void* cqe) {
  Lane& lane = LaneOf(qpn);
  const Time served = cqe_.Serve(dma_time_, costs_.nic.cqe_service);
  lane.last_write = Later(lane.last_write, served + WriteLatency(address));
  if (fabric_.faults.At(FaultWhere::kCqe)) [[unlikely]]
    OverlayCqe(lane, address, cqe);
  const auto* bytes = static_cast<const uint8_t*>(cqe);
  if (fabric_.trace.On()) TraceCqeOf(qpn, bytes);
  constexpr auto kError = static_cast<uint8_t>(abi::CqeOpcode::kRequesterError);
  if (bytes[offsetof(abi::Cqe, op_own)] >> 4 == kError && !first_error_ &&
      bytes[abi::kErrorSyndromeOffset] != static_cast<uint8_t>(abi::Syndrome::kFlushed))
      [[unlikely]] {
    std::memcpy(&first_error_.emplace(), cqe, abi::kCqeBytes);
  }
  return memory_.WriteFromDevice({lane.agent, address, lane.last_write, {}}, cqe, abi::kCqeBytes);
}

bool NicNode::Modify(uint32_t qpn, uint64_t address, uint32_t bytes, NextFn next,
                     const void* context, uint64_t* original) {
  if (memory_.Space().Find(address, bytes) == nullptr) return false;
  ++count_.dma_reads;
  ++count_.dma_writes;
  count_.dma_read_bytes += bytes;
  count_.dma_write_bytes += bytes;
  Lane& lane = LaneOf(qpn);
  // It has been read by now; what is written back takes its way like every write.
  lane.last_write = Later(lane.last_write, engine_.Now() + WriteLatency(address));
  *original = memory_.ModifyFromDevice({lane.agent, address, lane.last_write, {}}, bytes,
                                       [&](uint64_t old) { return next(context, old); });
  return true;
}

void NicNode::TraceCqeOf(uint32_t qpn, const uint8_t* cqe) {
  uint64_t tail = 0;
  std::memcpy(&tail, cqe + abi::kCqeTailOffset, sizeof(tail));
  const abi::CqeOpcode opcode = abi::TailOpcode(tail);
  const bool error = opcode == abi::CqeOpcode::kRequesterError;
  const uint16_t counter = static_cast<uint16_t>(abi::TailCounter(tail));
  fabric_.trace.Add(TraceCqe{node_, qpn, static_cast<uint8_t>(opcode),
                             error ? cqe[abi::kErrorSyndromeOffset] : uint8_t{0}, counter});
  const Lane& lane = LaneOf(qpn);
  const uint64_t fetched = lane.qp->requester.fetched;
  const uint64_t wqe = fetched - static_cast<uint16_t>(static_cast<uint16_t>(fetched) - counter);
  TraceStage(Stage::kCqe, qpn, wqe, dma_time_, lane.last_write);
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
          {Stage::kPort, port_.Busy()},
          {Stage::kReceive, receive_.Busy()},
          {Stage::kCqe, cqe_.Busy()},
          {Stage::kEngine, shared_ != nullptr ? shared_->Busy() : Duration()}};
}

}  // namespace ringpost::sim
