// What happens to a packet at its receiver, and the answers to it.
#include "sim/node/nic_node.h"

namespace ringpost::sim {
namespace {

// A WRITE without immediate: it changes memory and nothing else, so its effect can be stamped with
// its time as soon as it arrives.
bool IsPlainWrite(wire::Opcode opcode) {
  using enum wire::Opcode;
  const wire::Opcode rc = wire::AsRc(opcode);
  return rc == kRcWriteOnly || rc == kRcWriteFirst || rc == kRcWriteMiddle || rc == kRcWriteLast;
}

bool IsRead(wire::Opcode opcode) { return wire::AsRc(opcode) == wire::Opcode::kRcReadRequest; }

// Whether it names memory of the responder: a WRITE, READ or atomic.
bool AccessesMemory(wire::Opcode opcode) {
  return wire::IsWrite(opcode) || IsRead(opcode) || wire::IsAtomic(opcode);
}

bool EndsResponse(wire::Opcode opcode) {
  using enum wire::Opcode;
  const wire::Opcode rc = wire::AsRc(opcode);
  return rc == kRcReadResponseLast || rc == kRcReadResponseOnly || rc == kRcAtomicAck;
}

}  // namespace

// Most packets carry what the one before them of their QP did.
[[gnu::always_inline]] inline void NicNode::TakeOver(Lane& lane, const PacketItem& item) {
  if (item.released_stamp == 0 && item.released == lane.accepted) return;
  if (item.released != nullptr) AcceptCarried(lane, item);
}

void NicNode::AcceptCarried(Lane& lane, const PacketItem& item) {
  const bool with_self = item.released_stamp != 0;
  Origin origin;
  origin.agent = item.released_by;
  origin.stamp = item.released_stamp;
  origin.released = item.released;
  origin.self_scope = with_self ? static_cast<int8_t>(ScopeIndex(Scope::kSystem)) : int8_t{-1};
  memory_.AcceptPacket(lane.agent, origin);
  if (!with_self) lane.accepted = item.released;
}

// The function takes the packet; what it writes takes effect from `at` on.
[[gnu::always_inline]] inline void NicNode::Execute(Lane& lane, PacketItem& item, Time at) {
  TakeOver(lane, item);
  dma_time_ = at;
  const wire::Opcode opcode = item.packet.opcode;
  const uint64_t address = item.packet.remote_address;
  const uint32_t from_node = item.from_node, from_qp = item.from_qp;
  const Facts facts = nic_.Receive(item.packet, fabric_.nodes[item.from_node]->OwnAddress());
  item.released.reset();
  fabric_.packets.Give(item);
  Arm(lane, facts.timer);
  if (nic_.HasEvents()) OnFunctionEvents();
  if (wire::IsResponse(opcode)) Kick(lane);
  bool answers = facts.responses;
  if (answers && IsRead(opcode)) lane.reads.push_back(at + ReadLatency(address));
  if (answers && wire::IsAtomic(opcode)) lane.reads.push_back(at);
  if (shared_ != nullptr) [[unlikely]]
    answers = shared_->Answers(lane, from_node, from_qp, answers);
  if (answers && !lane.respond_timed) Respond(lane, at);
}

Duration NicNode::FindForResponder(const wire::Packet& packet, uint32_t lines) {
  // A pipe that waits for each context asks when it comes to the packet.
  const bool in_order = costs_.nic.responder_context.blocks_stage;
  const Time now = in_order ? Later(engine_.Now(), receive_.FreeAt()) : engine_.Now();
  const Duration wait = responder_contexts_.Find(now, packet.dest_qpn, lines);
  if (translations_ == nullptr || !AccessesMemory(packet.opcode)) [[likely]]
    return wait;
  const uint64_t bytes = packet.payload.empty() ? packet.dma_length : packet.payload.size();
  return wait + translations_->Find(now + wait, packet.remote_key, packet.remote_address, bytes);
}

// A responder context that is not at hand stalls the receive pipe, which works in order; or the
// packets of its QP alone, where the platform says so.
[[gnu::always_inline]] inline void NicNode::ArriveRequest(Lane& lane, PacketItem& item) {
  const Time now = engine_.Now();
  const Duration wait = FindForResponder(item.packet);
  if (!costs_.nic.responder_context.blocks_stage) [[unlikely]] {
    const Time done = Later(receive_.Serve(now, costs_.nic.receive), now + wait);
    lane.responder_free = Later(lane.responder_free, done);
    return Answer(lane, item, now, lane.responder_free);
  }
  receive_.Block(now, wait);
  Answer(lane, item, now, receive_.Serve(now, costs_.nic.receive));
}

// A packet came through the shared engine from now to `done`.
void NicNode::Take(PacketItem& item, Time done) {
  Lane& lane = LaneOf(item.packet.dest_qpn);
  if (wire::IsResponse(item.packet.opcode)) {
    Defer(lane, false, done, item);
  } else {
    Answer(lane, item, engine_.Now(), done);
  }
}

// The request came through the receive stage from `from` to `done`.
[[gnu::always_inline]] inline void NicNode::Answer(Lane& lane, PacketItem& item, Time from,
                                                   Time done) {
  if (fabric_.faults.At(FaultWhere::kResponder)) [[unlikely]] {
    const FaultPoint point{item.from_node, item.from_qp, item.wqe, item.wqe + 1};
    done += fabric_.faults.Judge(FaultWhere::kResponder, point, from).delay;
    done = Later(done, lane.responder_free);
    lane.responder_free = done;
  }
  TraceStage(Stage::kRespond, lane.qp->qpn, item.wqe, from, done);
  const wire::Opcode opcode = item.packet.opcode;
  const bool waits = lane.requests != nullptr && !lane.requests->Empty();
  if (IsPlainWrite(opcode) && !waits) {
    Execute(lane, item, done);
  } else if (wire::IsAtomic(opcode)) {
    // Read, and written back where nobody came in between; not before the writes ahead of it.
    const Time read = done + ReadLatency(item.packet.remote_address);
    Defer(lane, true, Later(read, lane.last_write), item);
  } else {
    Defer(lane, true, done, item);
  }
}

// When the last bit is here of a packet that has come as fast as its sender's link let it: behind
// what others have sent, as the switch has one link to this port. It begins with the first bit, so
// that one sender alone is not held up. Acknowledgements pass, as they do at the sender's link; and
// what comes to a shared engine, which takes no more from senders than its receive buffer holds.
[[gnu::always_inline]] inline Time NicNode::PassPort(const PacketItem& item) {
  const wire::Packet& packet = item.packet;
  const bool passes = packet.payload.empty() && wire::IsResponse(packet.opcode);
  if (passes || item.from_node == node_ || shared_ != nullptr) return engine_.Now();
  const Duration time = costs_.link.Serialise(packet.payload.size() + costs_.link.header_bytes);
  return port_.Serve(Time{engine_.Now().ps - time.ps}, time);
}

void NicNode::OnArrival(PacketItem& item) {
  const Time through = PassPort(item);
  if (engine_.Now() < through) {
    queued_at_port_.Put(through, item);
  } else {
    OnThroughPort(item);
  }
}

void NicNode::OnThroughPort(PacketItem& item) {
  if (nic_.FindQp(item.packet.dest_qpn) == nullptr) {
    if (IsCorrupt(item)) {
      ++count_.icrc_errors;
    } else {
      nic_.Receive(item.packet, fabric_.nodes[item.from_node]->OwnAddress());
    }
    if (item.held != 0) shared_->GiveRoom(item);
    item.released.reset();
    fabric_.packets.Give(item);
    return;
  }
  if (shared_ != nullptr && wire::AsRc(item.packet.opcode) != wire::Opcode::kRcAck) [[unlikely]]
    return shared_->Put(item);
  Lane& lane = LaneOf(item.packet.dest_qpn);
  if (wire::IsResponse(item.packet.opcode)) {
    ArriveResponse(lane, item);
  } else {
    ArriveRequest(lane, item);
  }
}

// An acknowledgement is taken in passing; data goes through the receive stage to memory.
void NicNode::ArriveResponse(Lane& lane, PacketItem& item) {
  const Time now = engine_.Now();
  const wire::Opcode rc = wire::AsRc(item.packet.opcode);
  const bool waits = lane.responses != nullptr && !lane.responses->Empty();
  if (rc == wire::Opcode::kRcAck) {
    if (waits) {
      Defer(lane, false, now, item);
    } else {
      Execute(lane, item, now);
    }
    return;
  }
  Defer(lane, false, receive_.Serve(now, costs_.nic.receive), item);
}

void NicNode::ExecuteNow(void* lane, PacketItem& item) {
  Lane& its = *static_cast<Lane*>(lane);
  its.node->Execute(its, item, its.node->engine_.Now());
}

// The packet takes effect at `due`, behind those of its QP that wait already.
void NicNode::Defer(Lane& lane, bool request, Time due, PacketItem& item) {
  std::unique_ptr<Channel<PacketItem>>& channel = request ? lane.requests : lane.responses;
  if (channel == nullptr) {
    channel = std::make_unique<Channel<PacketItem>>();
    channel->Attach<&NicNode::ExecuteNow>(engine_, &lane);
  }
  Time& until = request ? lane.requests_until : lane.responses_until;
  until = Later(until, due);
  channel->Put(until, item);
}

// Sends what there is to answer, in order; a READ's data not before it has come from memory.
void NicNode::Respond(Lane& lane, Time at) {
  const Time now = engine_.Now();
  while (true) {
    if (!lane.reads.empty() && now < lane.reads.front()) {
      lane.respond_timed = true;
      engine_.Schedule(lane.reads.front(), lane.respond_event);
      return;
    }
    PacketItem& item = fabric_.packets.Take();
    const Address* to = nullptr;
    // A READ that cannot be answered takes its QP to ERR, with CQEs of now.
    dma_time_ = now;
    const bool more = nic_.NextResponse(*lane.qp, item.packet, &to);
    if (nic_.HasEvents()) [[unlikely]]
      OnFunctionEvents();
    if (!more) {
      fabric_.packets.Give(item);
      lane.reads.clear();
      return;
    }
    const wire::Opcode opcode = item.packet.opcode;
    item.from_node = node_;
    item.from_qp = lane.number;
    item.wqe = 0;
    if (EndsResponse(opcode) && !lane.reads.empty()) lane.reads.pop_front();
    Carry(item, lane, true);
    const bool data = !item.packet.payload.empty();
    const Time due = data ? SerialiseOut(now, item.packet.payload.size())
                          : Later(at, now) + costs_.nic.latency * 2 + costs_.link.hop;
    lane.last_response = Later(due, lane.last_response);
    Launch(to->lid - 1u, &lane.last_response, item);
  }
}

// A WAIT that may go on; software hears of the rest through its own queues.
void NicNode::OnFunctionEvents() {
  for (const AsyncEvent& event : nic_.TakeEvents()) {
    if (event.kind == EventKind::kWaitOver) Kick(LaneOf(event.number));
  }
}

Channel<PacketItem>& NicNode::MakeWireTo(uint32_t peer) {
  if (wires_.size() <= peer) wires_.resize(fabric_.nodes.size());
  wires_[peer] = std::make_unique<Channel<PacketItem>>();
  wires_[peer]
      ->Attach<&Takes<&NicNode::OnArrival, PacketItem>,
               &Takes<&NicNode::OnNextArrival, PacketItem>>(engine_, fabric_.nodes[peer]);
  return *wires_[peer];
}

}  // namespace ringpost::sim
