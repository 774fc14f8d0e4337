// The responder: which requests are executed, which were before, which come too early; and what it
// says of them.
#include "sim/nic/rnic.h"
#include "sim/nic/syndromes.h"

namespace ringpost::sim {
namespace {

// Of the request that is expected. Nothing more is said until it comes.
void SayNak(Responder& r, uint8_t syndrome) {
  r.trailing = Trailing::kNak;
  r.syndrome = syndrome;
  r.nak_psn = r.expected;
  r.nak_sent = true;
}

}  // namespace

// What most requests are: the WRITE that is expected, whole, with nothing under way besides. False,
// and nothing done, for any other.
[[gnu::always_inline]] inline bool Rnic::PlaceShortWrite(QpContext& qp,
                                                         const wire::Packet& packet) {
  Responder& r = qp.responder;
  const size_t bytes = packet.payload.size();
  uint64_t address = 0;
  if (packet.psn != r.expected || r.message != MessageKind::kNone || r.rd != nullptr ||
      r.trailing == Trailing::kNak || qp.state != State::kReadyToSend || bytes == 0 ||
      qp.type != QpType::kRc || bytes != packet.dma_length || bytes > qp.mtu ||
      (qp.attributes.access & kMayWriteRemotely) == 0 ||
      !protection_.Translate(packet.remote_key, qp.pd, packet.remote_address, bytes,
                             kMayWriteRemotely, &address) ||
      !dma_.Write(qp.qpn, address, packet.payload.data(), bytes)) {
    return false;
  }
  r.expected = PsnAfter(r.expected, 1);
  r.msn = PsnAfter(r.msn, 1);
  r.nak_sent = false;
  if (packet.ack_request) r.trailing = Trailing::kAck;
  ++qp.executed;
  counters_.payload_bytes_received += bytes;
  return true;
}

Facts Rnic::Receive(const wire::Packet& packet, const Address& from) {
  Facts facts;
  ++counters_.packets_received;
  QpContext* qp = FindQp(packet.dest_qpn);
  if (packet.opcode == wire::Opcode::kRcWriteOnly && qp != nullptr &&
      PlaceShortWrite(*qp, packet)) {
    facts.qp = qp;
    facts.accepted = true;
    facts.responses = qp->responder.trailing != Trailing::kNone;
    return facts;
  }
  if (qp == nullptr || !wire::IsKnown(packet.opcode) ||
      wire::ServiceOf(packet.opcode) != qp->service || !qp->Receives()) {
    ++counters_.packets_dropped;
    return facts;
  }
  facts.qp = qp;
  if (wire::IsResponse(packet.opcode)) {
    ReceiveResponse(*qp, packet, &facts);
    return facts;
  }
  if (qp->type == QpType::kDci || (qp->type == QpType::kUd && packet.payload.size() > qp->mtu)) {
    ++counters_.packets_dropped;
    return facts;
  }
  if (qp->state == State::kReadyToReceive && !qp->established) {
    qp->established = true;
    events_.push_back({EventKind::kEstablished, qp->qpn});
  }
  const uint64_t executed = qp->executed;
  if (qp->type == QpType::kUd) {
    ReceiveDatagram(*qp, packet, from);
  } else {
    ReceiveRequest(*qp, *ResponderOf(*qp, packet, from), packet, from);
    if (qp->type == QpType::kDct) Announce(*qp);
  }
  facts.accepted = qp->executed != executed;
  facts.responses = HasResponses(*qp);
  return facts;
}

void Rnic::ReceiveRequest(QpContext& qp, Responder& r, const wire::Packet& packet,
                          const Address& from) {
  if (!InOrder(qp, r, packet)) return;
  r.nak_sent = false;
  if (r.trailing == Trailing::kNak) r.trailing = Trailing::kNone;
  if (qp.type == QpType::kDct && packet.dc_key != qp.config.dc_key) {
    Refuse(qp, r, {aeth::kRemoteAccess});
    return;
  }
  // A message starts where none is under way, and only there; all packets but the last are full.
  const bool starts = wire::StartsMessage(packet.opcode);
  const bool ends = wire::EndsMessage(packet.opcode);
  const bool fits = ends ? packet.payload.size() <= qp.mtu : packet.payload.size() == qp.mtu;
  if (starts != (r.message == MessageKind::kNone) || !fits) {
    Refuse(qp, r, {aeth::kInvalidRequest, abi::Syndrome::kLocalQpOperation});
    return;
  }
  if (!Execute(qp, r, packet, from)) return;
  ++qp.executed;
  counters_.payload_bytes_received += packet.payload.size();
  if (ends) {
    r.msn = PsnAfter(r.msn, 1);
    r.message = MessageKind::kNone;
  }
  if (packet.ack_request && wire::HasPayload(packet.opcode) && qp.type != QpType::kUc) {
    r.trailing = Trailing::kAck;
  }
}

// Whether the request is the one that is expected. One from before is answered again.
bool Rnic::InOrder(QpContext& qp, Responder& r, const wire::Packet& packet) {
  const int32_t distance = PsnDistance(r.expected, packet.psn);
  if (distance == 0 && (qp.type != QpType::kUc || r.message != MessageKind::kNone ||
                        wire::StartsMessage(packet.opcode))) {
    return true;
  }
  if (qp.type == QpType::kUc) {
    // What was lost stays lost: the next message starts anew, with the receive that is taken.
    if (distance != 0) ++counters_.out_of_order;
    r.message = MessageKind::kNone;
    r.expected = packet.psn;
    if (wire::StartsMessage(packet.opcode)) return true;
    ++counters_.packets_dropped;
    return false;
  }
  if (distance > 0) {
    ++counters_.out_of_order;
    if (!r.nak_sent) SayNak(r, aeth::kSequenceError);
    return false;
  }
  ++counters_.duplicates;
  if (wire::HasPayload(packet.opcode)) {
    if (r.trailing == Trailing::kNone && !r.nak_sent) r.trailing = Trailing::kAck;
  } else {
    Replay(qp, r, packet);
  }
  return false;
}

// Answers with a NAK; an RC QP is in ERR from then on. What a UC QP cannot execute it drops.
void Rnic::Refuse(QpContext& qp, Responder& r, const Refusal& refusal) {
  if (refusal.nak == aeth::kRemoteAccess) ++counters_.access_violations;
  const bool failed_receive = refusal.local != abi::Syndrome::kNone && r.receive.taken;
  if (failed_receive) {
    r.receive.taken = false;
    WriteReceiveError(qp, r.receive.index, refusal.local, 0);
  }
  r.message = MessageKind::kNone;
  if (qp.type == QpType::kUc) {
    ++counters_.packets_dropped;
    if (failed_receive) EnterError(qp);
    return;
  }
  SayNak(r, refusal.nak);
  // A DCT outlives what one of its DCIs did.
  if (qp.type == QpType::kDct) return;
  EnterError(qp);
  events_.push_back(
      {refusal.nak == aeth::kRemoteAccess ? EventKind::kQpAccessError : EventKind::kQpRequestError,
       qp.qpn});
}

// A receive WQE for the message; where none is posted the requester is told to come back. A QP
// whose receive queue cannot be read has none, however often it comes.
bool Rnic::TakeReceive(QpContext& qp, Responder& r) {
  if (r.receive.taken) return true;
  const Receives found =
      qp.receives == nullptr ? Receives::kNone : qp.receives->Take(dma_, qp.qpn, &r.receive);
  if (found == Receives::kTaken) {
    ++counters_.receive_wqes;
    if (qp.config.srq != 0) CheckSrqLimit(qp.config.srq);
    return true;
  }
  const bool answers = qp.type == QpType::kRc || qp.type == QpType::kDct;
  if (found == Receives::kUnreadable) {
    if (answers) {
      Refuse(qp, r, {aeth::kRemoteOperation});
    } else {
      ++counters_.packets_dropped;
    }
    // A DCT has no errors of its own: its sources hear of it.
    if (qp.type != QpType::kDct) FailQp(qp);
    return false;
  }
  if (answers) {
    SayNak(r, static_cast<uint8_t>(aeth::kRnrNak | (qp.attributes.min_rnr_timer & 0x1f)));
  } else {
    ++counters_.packets_dropped;
  }
  return false;
}

// Notes that the source of a DCT that was just spoken to has something to say.
void Rnic::Announce(QpContext& qp) {
  DcSource& source = *qp.sources[qp.source];
  if (source.answering || !source.responder.Pending()) return;
  source.answering = true;
  qp.answering.push_back(qp.source);
}

bool Rnic::HasResponses(const QpContext& qp) const {
  if (qp.type != QpType::kDct) return qp.responder.Pending();
  for (const uint32_t source : qp.answering) {
    if (qp.sources[source]->responder.Pending()) return true;
  }
  return false;
}

// The responder whose turn it is: of a DCT, the next source with something to say.
Responder* Rnic::NextAnswer(QpContext& qp, wire::Packet& packet, const Address** to) {
  if (qp.type != QpType::kDct) {
    packet.dest_qpn = qp.dest_qpn;
    *to = &qp.attributes.address;
    return qp.responder.Pending() ? &qp.responder : nullptr;
  }
  while (!qp.answering.empty()) {
    if (++qp.next_answer >= qp.answering.size()) qp.next_answer = 0;
    DcSource& source = *qp.sources[qp.answering[qp.next_answer]];
    packet.dest_qpn = source.qpn;
    *to = &source.address;
    if (source.responder.Pending()) return &source.responder;
    source.answering = false;
    qp.answering[qp.next_answer] = qp.answering.back();
    qp.answering.pop_back();
  }
  return nullptr;
}

bool Rnic::NextResponse(QpContext& qp, wire::Packet& packet, const Address** to) {
  Responder* r = NextAnswer(qp, packet, to);
  if (r == nullptr) return false;
  packet.pkey = 0xffff;
  packet.migrated = true;
  packet.solicited = packet.ack_request = packet.fecn = packet.becn = false;
  packet.msn = r->msn;
  const bool data = r->rd != nullptr && r->rd->count != 0 && BuildRdResponse(qp, *r, packet);
  if (!data) {
    packet.opcode = wire::OnService(wire::Opcode::kRcAck, qp.service);
    packet.payload.clear();
    const bool ack = r->trailing == Trailing::kAck;
    packet.psn = ack ? PsnAfter(r->expected, kPsnMask) : r->nak_psn;
    packet.syndrome = ack ? aeth::kAckNoCredits : r->syndrome;
    r->trailing = Trailing::kNone;
    const bool rnr = !ack && (packet.syndrome & aeth::kKindMask) == aeth::kRnrNak;
    ++(ack ? counters_.acks_sent : rnr ? counters_.rnr_naks_sent : counters_.naks_sent);
  }
  ++counters_.packets_sent;
  return true;
}

}  // namespace ringpost::sim
