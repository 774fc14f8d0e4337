// What happens to a QP after an error: the root cause, the flushes, the states.
#include <algorithm>

#include "sim/nic/dc.h"
#include "sim/nic/rnic.h"
#include "sim/nic/syndromes.h"

namespace ringpost::sim {
// In ERR the NIC takes its producer from the record: where the record is stale, WQEs vanish.
uint64_t Rnic::ProducerInError(QpContext& qp) {
  Requester& r = qp.requester;
  uint64_t producer = r.head == r.tail ? r.fetched : IndexOf(qp, r.window.At(r.head));
  if (config_.behaviour == Behaviour::kStrict) producer = std::max(producer, r.producer);
  uint64_t recorded = 0;
  if (ReadCounter(qp, &recorded)) producer = std::max(producer, recorded);
  return producer;
}

// The oldest WQE has failed; all before it are complete.
void Rnic::Fail(QpContext& qp, abi::Syndrome syndrome, uint8_t vendor) {
  Requester& r = qp.requester;
  // UC and UD lose their send queue alone.
  const bool whole = qp.Acknowledged();
  qp.state = whole ? State::kError : State::kSendQueueError;
  const uint64_t producer = whole ? ProducerInError(qp) : r.producer;
  const SendWqe& wqe = r.window.At(r.head);
  if (IndexOf(qp, wqe) < producer) {
    WriteSendError(qp, wqe.index, wqe.opcode, syndrome, vendor);
    ++r.head;
  }
  FlushSends(qp, producer, vendor::kFlush);
  if (!whole) return;
  FlushReceives(qp);
  if (qp.config.srq != 0) events_.push_back({EventKind::kLastWqeReached, qp.qpn});
}

// To ERR for another reason than a WQE of its own.
void Rnic::EnterError(QpContext& qp) {
  if (qp.state == State::kError) return;
  const bool sent = qp.state == State::kReadyToSend || qp.state == State::kSendQueueDrain;
  qp.state = State::kError;
  if (qp.config.sq_wqebbs != 0 && sent) FlushSends(qp, ProducerInError(qp), vendor::kHeadFlush);
  FlushReceives(qp);
  if (qp.config.srq != 0) events_.push_back({EventKind::kLastWqeReached, qp.qpn});
}

// A queue of its own, or its record, is not there: no WQE can be told of it.
void Rnic::FailQp(QpContext& qp) {
  EnterError(qp);
  events_.push_back({EventKind::kQpFatal, qp.qpn});
}

// One CQE for each WQE up to `producer`, signalled or not, in order.
void Rnic::FlushSends(QpContext& qp, uint64_t producer, uint8_t head_vendor) {
  Requester& r = qp.requester;
  uint8_t code = head_vendor;
  const uint64_t fetched = r.fetched;
  uint64_t done = r.head == r.tail ? r.fetched : IndexOf(qp, r.window.At(r.head));
  for (; r.head != r.tail; ++r.head) {
    const SendWqe& wqe = r.window.At(r.head);
    const uint64_t index = IndexOf(qp, wqe);
    if (index >= producer) break;
    WriteSendError(qp, wqe.index, wqe.opcode, abi::Syndrome::kFlushed, code);
    code = vendor::kFlush;
    done = r.head + 1 == r.tail ? fetched : IndexOf(qp, r.window.At(r.head + 1));
  }
  while (done < producer) {
    uint8_t control[abi::kWqebbBytes] = {};
    if (ReadRing(qp, done, 0, control, abi::kWqebbBytes)) {
      ConsumeRing(qp, done, abi::kSegmentBytes);
    }
    WriteSendError(qp, static_cast<uint16_t>(done), static_cast<abi::Opcode>(control[3]),
                   abi::Syndrome::kFlushed, code);
    code = vendor::kFlush;
    done += std::max(1u, abi::WqebbsOf(control[7] & 0x3f));
  }
  r.fetched = r.producer = done;
  r.head = r.send = r.sent_end = r.tail;
  r.unanswered = r.unsent = r.send_psn = r.next_psn;
  r.rds = 0;
  r.stream = kNoStream;
  r.rnr_wait = r.rewound = r.timer_armed = false;
  r.timeouts = r.rnr_naks = 0;
  ++r.generation;
  NewIncarnations(qp);
}

// The QP's own receives; an SRQ's stay for others.
void Rnic::FlushReceives(QpContext& qp) {
  Responder& r = qp.responder;
  if (qp.receives == nullptr) return;
  if (r.receive.taken) {
    r.receive.taken = false;
    WriteReceiveError(qp, r.receive.index, abi::Syndrome::kFlushed, vendor::kFlush);
  }
  r.message = MessageKind::kNone;
  for (const auto& source : qp.sources) {
    ReceiveWqe& receive = source->responder.receive;
    if (!receive.taken) continue;
    receive.taken = false;
    WriteReceiveError(qp, receive.index, abi::Syndrome::kFlushed, vendor::kFlush);
  }
  if (qp.receives != &qp.rq) return;
  ReceiveWqe wqe;
  while (qp.rq.Take(dma_, qp.qpn, &wqe) == Receives::kTaken) {
    WriteReceiveError(qp, wqe.index, abi::Syndrome::kFlushed, vendor::kFlush);
  }
}

// What a target has executed of the work that failed is not known: new work gets PSNs that it
// cannot take for old ones.
void Rnic::NewIncarnations(QpContext& qp) {
  for (DcStream& stream : qp.streams) {
    if (stream.used) stream.first_psn = dc::NextIncarnation(stream.next_psn);
    stream.next_psn = stream.first_psn;
    stream.used = false;
  }
}

}  // namespace ringpost::sim
