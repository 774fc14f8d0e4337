// The requester's way back: acknowledgements, responses, NAKs and timers.
#include <algorithm>

#include "sim/nic/atomics.h"
#include "sim/nic/rnic.h"
#include "sim/nic/syndromes.h"
#include "sim/nic/timer_codes.h"

namespace ringpost::sim {

void Rnic::ReceiveResponse(QpContext& qp, const wire::Packet& packet, Facts* facts) {
  Requester& r = qp.requester;
  // Before the oldest without an answer: said already. Beyond what was sent: not for this QP.
  const bool known = r.head != r.sent_end && PsnDistance(r.unanswered, packet.psn) >= 0 &&
                     PsnDistance(packet.psn, r.unsent) > 0;
  if (!known || (qp.state != State::kReadyToSend && qp.state != State::kSendQueueDrain)) return;
  facts->accepted = true;
  if (wire::AsRc(packet.opcode) != wire::Opcode::kRcAck) {
    ReceiveData(qp, packet, facts);
  } else if ((packet.syndrome & aeth::kKindMask) == aeth::kAck) {
    ReceiveAck(qp, packet, facts);
  } else {
    ReceiveNak(qp, packet, facts);
  }
  facts->may_send |= r.send != r.tail || r.fetched != r.producer;
}

void Rnic::ReceiveAck(QpContext& qp, const wire::Packet& packet, Facts* facts) {
  ++counters_.acks_received;
  if (!Advance(qp, PsnAfter(packet.psn, 1))) ImpliedNak(qp, facts);
}

// All requests before `psn` have arrived, which answers all but READs and atomics. False if one of
// those stands in the way.
bool Rnic::Advance(QpContext& qp, uint32_t psn) {
  Requester& r = qp.requester;
  const uint32_t answered = r.unanswered;
  const uint32_t head = r.head;
  bool clear = true;
  while (r.head != r.sent_end) {
    SendWqe& wqe = r.window.At(r.head);
    if (wqe.Is(kWqeFailed)) {
      Fail(qp, wqe.failure.syndrome, wqe.failure.vendor);
      return true;
    }
    if (!wqe.Is(kWqeLocal)) {
      const uint32_t end = PsnAfter(wqe.first_psn, wqe.packets);
      if (PsnDistance(r.unanswered, end) > 0) {
        if (wqe.Is(kWqeAnswered)) {
          clear = PsnDistance(r.unanswered, psn) <= 0;
          break;
        }
        if (PsnDistance(end, psn) < 0) {
          if (PsnDistance(r.unanswered, psn) > 0) r.unanswered = psn;
          break;
        }
        r.unanswered = end;
      }
      if (wqe.Is(kWqeCounted)) --r.rds;
    }
    ++r.head;
    if (wqe.Signalled() && !CompleteSend(qp, wqe)) {
      EnterError(qp);
      return true;
    }
  }
  if (r.unanswered == answered && r.head == head) return clear;
  r.timeouts = 0;
  r.rnr_naks = 0;
  r.rewound = false;
  // What is answered is not sent again.
  if (static_cast<int32_t>(r.send - r.head) < 0) {
    r.send = r.head;
    r.send_psn = r.unanswered;
  } else if (r.send == r.head && PsnDistance(r.send_psn, r.unanswered) > 0) {
    r.send_psn = r.unanswered;
  }
  if (qp.state == State::kSendQueueDrain) CheckDrained(qp);
  return clear;
}

void Rnic::CheckDrained(QpContext& qp) {
  if (qp.drained_event || qp.requester.head != qp.requester.sent_end) return;
  qp.drained_event = true;
  if (qp.attributes.drain_notify) events_.push_back({EventKind::kSendQueueDrained, qp.qpn});
}

void Rnic::Rewind(QpContext& qp) {
  Requester& r = qp.requester;
  r.send = r.head;
  r.send_psn = r.unanswered;
}

// A later answer came first: that of a READ or atomic was lost, so it is asked for again. Once, as
// each answer on its way says so too.
void Rnic::ImpliedNak(QpContext& qp, Facts* facts) {
  if (qp.requester.rewound) return;
  qp.requester.rewound = true;
  ++counters_.implied_naks;
  Rewind(qp);
  facts->may_send = true;
}

void Rnic::ReceiveData(QpContext& qp, const wire::Packet& packet, Facts* facts) {
  Requester& r = qp.requester;
  if (!Advance(qp, packet.psn) || r.unanswered != packet.psn) {
    ImpliedNak(qp, facts);
    return;
  }
  if (r.head == r.sent_end) return;
  const SendWqe& wqe = r.window.At(r.head);
  const uint32_t offset = static_cast<uint32_t>(PsnDistance(wqe.first_psn, packet.psn));
  const bool atomic = wire::HasAtomicAckEth(packet.opcode);
  if (!wqe.Is(kWqeAnswered) || atomic != wqe.Is(kWqeAtomic)) {
    Fail(qp, abi::Syndrome::kBadResponse, 0);
    return;
  }
  bool placed = false;
  if (atomic) {
    const uint64_t result = ResultInMemory(packet.original, wqe.atomic_bytes);
    placed = ScatterLocal(qp, wqe, 0, reinterpret_cast<const uint8_t*>(&result), wqe.atomic_bytes);
  } else {
    const bool last = offset + 1 == wqe.packets;
    const uint32_t done = offset * qp.mtu;
    const uint32_t bytes = last ? wqe.bytes - done : qp.mtu;
    if (wire::EndsMessage(packet.opcode) != last || packet.payload.size() != bytes) {
      Fail(qp, abi::Syndrome::kBadResponse, 0);
      return;
    }
    counters_.payload_bytes_received += bytes;
    placed = ScatterLocal(qp, wqe, done, packet.payload.data(), bytes);
  }
  if (!placed) {
    Fail(qp, abi::Syndrome::kLocalProtection, 0x51);
    return;
  }
  r.unanswered = PsnAfter(packet.psn, 1);
  r.timeouts = 0;
  r.rnr_naks = 0;
  r.rewound = false;
  if (r.send == r.head && PsnDistance(r.send_psn, r.unanswered) > 0) r.send_psn = r.unanswered;
  Advance(qp, r.unanswered);
}

void Rnic::ReceiveNak(QpContext& qp, const wire::Packet& packet, Facts* facts) {
  Requester& r = qp.requester;
  const bool rnr = (packet.syndrome & aeth::kKindMask) == aeth::kRnrNak;
  ++(rnr ? counters_.rnr_naks_received : counters_.naks_received);
  if (!Advance(qp, packet.psn)) {
    ImpliedNak(qp, facts);
    return;
  }
  const bool sends = qp.state == State::kReadyToSend || qp.state == State::kSendQueueDrain;
  if (!sends || r.unanswered != packet.psn || r.head == r.sent_end) return;
  if (rnr) {
    if (r.rnr_wait) return;
    if (qp.attributes.rnr_retry != 7 && r.rnr_naks++ >= qp.attributes.rnr_retry) {
      Fail(qp, abi::Syndrome::kRnrRetryExceeded, 0x87);
      return;
    }
    Rewind(qp);
    r.rnr_wait = true;
    r.timer_armed = false;
    facts->timer = {true, TimerKind::kRnr, static_cast<uint8_t>(packet.syndrome & 0x1f),
                    ++r.generation};
    return;
  }
  switch (packet.syndrome) {
    case aeth::kSequenceError:
      if (r.rewound) return;
      r.rewound = true;
      Rewind(qp);
      facts->may_send = true;
      return;
    case aeth::kInvalidRequest:
      Fail(qp, abi::Syndrome::kRemoteInvalidRequest, 0x8a);
      return;
    case aeth::kRemoteAccess:
      Fail(qp, abi::Syndrome::kRemoteAccess, 0x88);
      return;
    case aeth::kRemoteOperation:
      Fail(qp, abi::Syndrome::kRemoteOperation, 0x89);
      return;
    default:
      Fail(qp, abi::Syndrome::kBadResponse, 0);
  }
}

Facts Rnic::OnTimer(QpContext& qp, TimerKind kind, uint32_t generation) {
  Requester& r = qp.requester;
  Facts facts;
  facts.qp = &qp;
  const bool sends = qp.state == State::kReadyToSend || qp.state == State::kSendQueueDrain;
  if (generation != r.generation || !sends) return facts;
  if (kind == TimerKind::kRnr) {
    r.rnr_wait = false;
    facts.may_send = true;
    return facts;
  }
  if (!r.timer_armed) return facts;
  r.timer_armed = false;
  if (r.head == r.sent_end || PsnDistance(r.unanswered, r.unsent) <= 0) return facts;
  if (r.unanswered != r.unanswered_when_armed) {
    ArmAck(qp, &facts.timer);
    return facts;
  }
  ++counters_.timeouts;
  if (++r.timeouts >= TimeoutsToFail(qp.attributes.retry_count, config_.behaviour)) {
    Fail(qp, abi::Syndrome::kTransportRetryExceeded, 0x81);
    return facts;
  }
  Rewind(qp);
  r.rewound = false;
  // Perhaps nothing of what is sent again asks for an answer.
  r.packets_since_request = config_.packets_per_ack;
  facts.may_send = true;
  return facts;
}

}  // namespace ringpost::sim
