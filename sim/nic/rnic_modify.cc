// The state machine of a QP, and reading back what was set.
#include <bit>

#include "sim/nic/rnic.h"

namespace ringpost::sim {
namespace {

constexpr uint32_t kSmallestMtu = 256;

std::string TooMuch(const char* what, uint32_t value, uint32_t limit) {
  return std::string(what) + " " + std::to_string(value) + " is beyond the limit of " +
         std::to_string(limit);
}

}  // namespace

std::string Rnic::CheckAttributes(const QpContext& qp, const QpAttributes& wanted,
                                  uint32_t mask) const {
  if ((mask & kAttrCurrentState) && wanted.current_state != qp.state) {
    return std::string("the QP is in ") + NameOf(qp.state) + ", not in " +
           NameOf(wanted.current_state);
  }
  if (mask & kAttrPathMtu) {
    if (wanted.path_mtu > config_.mtu) return TooMuch("path MTU", wanted.path_mtu, config_.mtu);
    if (wanted.path_mtu < kSmallestMtu || !std::has_single_bit(wanted.path_mtu)) {
      return "path MTU " + std::to_string(wanted.path_mtu) + " is none of 256 to 4096";
    }
  }
  struct Limit {
    uint32_t attribute;
    const char* name;
    uint32_t value;
    uint32_t limit;
  };
  const Limit limits[] = {
      {kAttrMaxRdAtomic, "max_rd_atomic", wanted.max_rd_atomic, config_.limits.rd_atomic},
      {kAttrMaxDestRdAtomic, "max_dest_rd_atomic", wanted.max_dest_rd_atomic,
       config_.limits.rd_atomic},
      {kAttrTimeout, "timeout", wanted.timeout, 31},
      {kAttrRetryCount, "retry count", wanted.retry_count, 7},
      {kAttrRnrRetry, "RNR retry", wanted.rnr_retry, 7},
      {kAttrMinRnrTimer, "min RNR timer", wanted.min_rnr_timer, 31},
      {kAttrReceivePsn, "receive PSN", wanted.receive_psn, kPsnMask},
      {kAttrSendPsn, "send PSN", wanted.send_psn, kPsnMask},
      {kAttrDestQpn, "destination QPN", wanted.dest_qpn, 0xffffff},
  };
  for (const Limit& limit : limits) {
    if ((mask & limit.attribute) != 0 && limit.value > limit.limit) {
      return TooMuch(limit.name, limit.value, limit.limit);
    }
  }
  return {};
}

std::string Rnic::ModifyQp(uint32_t qpn, const QpAttributes& attributes, uint32_t mask) {
  QpContext* qp = FindQp(qpn);
  if (qp == nullptr) return "QP " + std::to_string(qpn) + " does not exist";
  const State to = (mask & kAttrState) != 0 ? attributes.state : qp->state;
  std::string refusal = CheckTransition(qp->type, qp->state, to, mask);
  if (refusal.empty()) refusal = CheckAttributes(*qp, attributes, mask);
  if (!refusal.empty()) return refusal;
  if (to == State::kError) {
    EnterError(*qp);
    return {};
  }
  if (to == State::kReset) {
    Reset(*qp);
    return {};
  }
  Assign(qp->attributes, attributes, mask);
  Enter(*qp, to);
  return {};
}

void Rnic::Enter(QpContext& qp, State state) {
  Requester& r = qp.requester;
  const State from = qp.state;
  qp.state = state;
  if (state == State::kReadyToReceive) {
    qp.responder.expected = qp.attributes.receive_psn;
    qp.dest_qpn = qp.attributes.dest_qpn;
    // A datagram's path is not the QP's: what the port takes.
    qp.mtu = qp.type == QpType::kUd ? config_.mtu : qp.attributes.path_mtu;
    qp.rules = {
        qp.type,       qp.config.waits, config_.behaviour, qp.mtu, config_.limits.message_bytes,
        config_.routed};
    if (qp.type == QpType::kDct && qp.attributes.max_dest_rd_atomic == 0) {
      qp.attributes.max_dest_rd_atomic = static_cast<uint8_t>(config_.limits.rd_atomic);
    }
  } else if (state == State::kReadyToSend && from == State::kReadyToReceive) {
    r.next_psn = r.send_psn = r.unanswered = r.unsent = qp.attributes.send_psn;
  } else if (state == State::kSendQueueDrain && from == State::kReadyToSend) {
    qp.drained_event = false;
    CheckDrained(qp);
  }
}

// Counters to 0, nothing under way; CQs and rings stay as they are.
void Rnic::Reset(QpContext& qp) {
  const uint32_t generation = qp.requester.generation + 1;
  qp.state = State::kReset;
  qp.requester = Requester();
  qp.requester.generation = generation;
  qp.requester.window.Prepare(qp.config.sq_wqebbs, qp.Addressed());
  qp.responder = Responder();
  qp.attributes = QpAttributes();
  qp.rq.Reset();
  qp.sources.clear();
  qp.source_index = PeerIndex();
  qp.answering.clear();
  qp.established = qp.drained_event = false;
  // Targets remember this DCI.
  NewIncarnations(qp);
}

QpAttributes Rnic::QueryQp(const QpContext& qp) const {
  QpAttributes now = qp.attributes;
  now.state = now.current_state = qp.state;
  if (qp.state != State::kReset && qp.state != State::kInit) {
    now.receive_psn = qp.responder.expected;
    now.send_psn = qp.requester.next_psn;
  }
  return now;
}

}  // namespace ringpost::sim
