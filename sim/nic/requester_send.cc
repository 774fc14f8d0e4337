// The requester's way out: which packet leaves next, for the first time or again.
#include <algorithm>
#include <cstring>

#include "sim/nic/atomics.h"
#include "sim/nic/rnic.h"

namespace ringpost::sim {
namespace {

// How far a requester runs ahead of answers. Half of all PSNs would be legal; a DCT recognises a
// DCI's first packets by less (dc.cc).
constexpr int32_t kPsnWindow = 1 << 22;
constexpr int32_t kDcPsnWindow = 1 << 12;

constexpr uint8_t kFenceMask = 0xe0;

bool Fenced(const SendWqe& wqe) {
  const uint8_t mode = wqe.flags & kFenceMask;
  return mode > abi::kInitiatorSmallFence;
}

// The opcode of one packet of a SEND or WRITE, on RC.
wire::Opcode SegmentOpcode(abi::Opcode operation, bool first, bool last) {
  using enum wire::Opcode;
  const bool immediate =
      operation == abi::Opcode::kSendImm || operation == abi::Opcode::kRdmaWriteImm;
  const bool write =
      operation == abi::Opcode::kRdmaWrite || operation == abi::Opcode::kRdmaWriteImm;
  if (write) {
    if (!last) return first ? kRcWriteFirst : kRcWriteMiddle;
    if (first) return immediate ? kRcWriteOnlyImmediate : kRcWriteOnly;
    return immediate ? kRcWriteLastImmediate : kRcWriteLast;
  }
  if (!last) return first ? kRcSendFirst : kRcSendMiddle;
  if (operation == abi::Opcode::kSendInvalidate) {
    return first ? kRcSendOnlyInvalidate : kRcSendLastInvalidate;
  }
  if (first) return immediate ? kRcSendOnlyImmediate : kRcSendOnly;
  return immediate ? kRcSendLastImmediate : kRcSendLast;
}

wire::Opcode AnsweredOpcode(abi::Opcode operation) {
  switch (operation) {
    case abi::Opcode::kAtomicCompareSwap:
      return wire::Opcode::kRcCompareSwap;
    case abi::Opcode::kAtomicFetchAdd:
      return wire::Opcode::kRcFetchAdd;
    case abi::Opcode::kAtomicMaskedCompareSwap:
      return wire::Opcode::kRcMaskedCompareSwap;
    case abi::Opcode::kAtomicMaskedFetchAdd:
      return wire::Opcode::kRcMaskedFetchAdd;
    default:
      return wire::Opcode::kRcReadRequest;
  }
}

Sent BlockedBy(Blocked why) {
  Sent sent;
  sent.status = SendStatus::kBlocked;
  sent.blocked = why;
  return sent;
}

// Whether the WQE behind this one waits for it, or comes behind it without a packet that could ask:
// what is done or has failed here, and a DCI's next target.
bool NextNeedsAnswer(QpContext& qp) {
  SendWindow& window = qp.requester.window;
  const uint32_t here = qp.requester.send, next = here + 1;
  if (next == qp.requester.tail || window.At(next).Is(kWqeLocal | kWqeFailed)) return true;
  return qp.type == QpType::kDci && window.TargetOf(here).stream != window.TargetOf(next).stream;
}

}  // namespace

// What most packets are: a WRITE of a few bytes that leaves for the first time.
[[gnu::always_inline]] inline Sent Rnic::SendShortWrite(QpContext& qp, const SendWqe& wqe,
                                                        wire::Packet& packet) {
  Requester& r = qp.requester;
  packet.psn = wqe.first_psn;
  packet.payload.resize(wqe.bytes, boost::container::default_init);
  if (wqe.Is(kWqeInline)) {
    for (uint32_t i = 0; i < wqe.bytes; i += 8) {
      // The record and the packet have room for whole words.
      std::memcpy(packet.payload.data() + i, wqe.payload + i, 8);
    }
  } else if (!Gather(qp, wqe, 0, wqe.bytes, packet)) {
    return SendAny(qp, packet);
  }
  packet.opcode = wire::Opcode::kRcWriteOnly;
  packet.solicited = (wqe.flags & abi::kSolicited) != 0;
  packet.ack_request = Asks(qp, wqe, true);
  packet.migrated = true;
  packet.fecn = packet.becn = false;
  packet.pkey = 0xffff;
  packet.dest_qpn = qp.dest_qpn;
  packet.remote_address = wqe.remote_address;
  packet.remote_key = wqe.remote_key;
  packet.dma_length = wqe.bytes;
  ++counters_.packets_sent;
  counters_.payload_bytes_sent += wqe.bytes;
  r.sent_end = ++r.send;
  r.send_psn = r.unsent = PsnAfter(wqe.first_psn, 1);
  Sent sent;
  sent.status = SendStatus::kSent;
  sent.wqe_index = wqe.index;
  sent.to = &qp.attributes.address;
  if (!r.timer_armed) ArmAck(qp, &sent.timer);
  return sent;
}

Sent Rnic::NextPacket(QpContext& qp, wire::Packet& packet) {
  Requester& r = qp.requester;
  if (qp.state == State::kReadyToSend && r.send != r.tail && r.send == r.sent_end && !r.rnr_wait &&
      qp.type == QpType::kRc) {
    const SendWqe& wqe = r.window.At(r.send);
    constexpr uint8_t kOther = static_cast<uint8_t>(~kWqeInline);
    if (wqe.opcode == abi::Opcode::kRdmaWrite && (wqe.traits & kOther) == 0 && wqe.packets == 1 &&
        wqe.bytes <= kShortInlineBytes && (wqe.flags & kFenceMask) == 0 &&
        PsnDistance(r.unanswered, wqe.first_psn) < kPsnWindow) {
      return SendShortWrite(qp, wqe, packet);
    }
  }
  return SendAny(qp, packet);
}

Sent Rnic::SendAny(QpContext& qp, wire::Packet& packet) {
  Requester& r = qp.requester;
  for (;;) {
    if (qp.state != State::kReadyToSend && qp.state != State::kSendQueueDrain) return {};
    if (r.send == r.tail) return {};
    SendWqe& wqe = r.window.At(r.send);
    const bool started = static_cast<int32_t>(r.sent_end - r.send) > 0;
    if (!started || wqe.Is(kWqeFailed | kWqeLocal)) {
      if (wqe.Is(kWqeFailed)) {
        if (r.head != r.send) {
          if (!AskAgain(qp)) return BlockedBy(Blocked::kEarlier);
          continue;
        }
        Fail(qp, wqe.failure.syndrome, wqe.failure.vendor);
        return {};
      }
      if (!started) {
        const Blocked held = Hold(qp, wqe);
        if (held != Blocked::kNot) return BlockedBy(held);
      }
      if (wqe.Is(kWqeLocal)) {
        Blocked blocked = Blocked::kNot;
        if (!ExecuteLocal(qp, wqe, &blocked)) {
          if (blocked != Blocked::kNot) return BlockedBy(blocked);
          continue;  // it has failed
        }
        ++r.send;
        if (!started) r.sent_end = r.send;
        if (r.head + 1 == r.send) Advance(qp, r.unanswered);
        continue;
      }
      r.send_psn = wqe.first_psn;
    }
    if (r.rnr_wait) return BlockedBy(Blocked::kRnr);
    const int32_t ahead = PsnDistance(r.unanswered, r.send_psn);
    if (qp.Acknowledged() && ahead != 0) {
      const int32_t window = qp.type == QpType::kDci ? kDcPsnWindow : kPsnWindow;
      const int32_t taken = wqe.Is(kWqeAnswered) ? static_cast<int32_t>(wqe.packets) : 1;
      if (ahead + taken > window) return BlockedBy(Blocked::kPsnWindow);
    }
    const uint32_t offset = static_cast<uint32_t>(PsnDistance(wqe.first_psn, r.send_psn));
    const uint32_t since_request = r.packets_since_request;
    if (!Build(qp, wqe, offset, packet)) {  // it has failed, and so has not asked
      r.packets_since_request = since_request;
      continue;
    }
    Sent sent;
    sent.status = SendStatus::kSent;
    sent.wqe_index = wqe.index;
    sent.to = qp.Addressed() ? &r.window.TargetOf(r.send).address : &qp.attributes.address;
    if (!started) r.sent_end = r.send + 1;
    r.send_psn = PsnAfter(r.send_psn, wqe.Is(kWqeAnswered) ? wqe.packets - offset : 1);
    ++counters_.packets_sent;
    if (PsnDistance(r.unsent, packet.psn) < 0) {
      sent.retransmission = true;
      ++counters_.packets_retransmitted;
    }
    if (PsnDistance(r.unsent, r.send_psn) > 0) r.unsent = r.send_psn;
    if (r.send_psn == PsnAfter(wqe.first_psn, wqe.packets)) ++r.send;
    if (qp.Acknowledged()) {
      if (!r.timer_armed) ArmAck(qp, &sent.timer);
    } else {
      r.unanswered = r.send_psn;
      if (r.head != r.send) Advance(qp, r.unanswered);
    }
    return sent;
  }
}

// A WQE turned out to have failed behind packets none of which has asked for an answer: they leave
// once more, and the first one asks. False where an answer is under way.
bool Rnic::AskAgain(QpContext& qp) {
  Requester& r = qp.requester;
  if (r.rewound || r.packets_since_request == 0 || !qp.Acknowledged()) return false;
  r.rewound = true;
  Rewind(qp);
  r.packets_since_request = config_.packets_per_ack;
  return true;
}

// Whether a WQE of which nothing has left may start.
Blocked Rnic::Hold(QpContext& qp, SendWqe& wqe) {
  Requester& r = qp.requester;
  if (qp.state == State::kSendQueueDrain) return Blocked::kDraining;
  if (Fenced(wqe) && r.rds != 0) return Blocked::kFence;
  if (wqe.Is(kWqeLocal)) return Blocked::kNot;
  if (qp.type == QpType::kDci) {
    const uint32_t stream = r.window.TargetOf(r.send).stream;
    if (stream != r.stream) {
      if (r.head != r.send) return Blocked::kDestination;
      r.stream = stream;
      qp.streams[stream].used = true;
      ++counters_.dc_connects;
      r.unanswered = r.unsent = wqe.first_psn;
    }
  }
  if (wqe.Is(kWqeAnswered)) {
    // With no READ allowed none is ever answered.
    if (qp.attributes.max_rd_atomic == 0) {
      wqe.Fail(abi::Syndrome::kLocalQpOperation, 0);
    } else if (r.rds >= qp.attributes.max_rd_atomic) {
      return Blocked::kReadWindow;
    }
  }
  return Blocked::kNot;
}

// False where it must wait, or has failed.
bool Rnic::ExecuteLocal(QpContext& qp, SendWqe& wqe, Blocked* blocked) {
  if (wqe.Is(kWqeExecuted)) return true;
  if (wqe.opcode == abi::Opcode::kWait) {
    CompletionQueue* cq = FindCq(wqe.wait.cqn);
    if (cq == nullptr) {
      wqe.Fail(abi::Syndrome::kLocalQpOperation, 0);
      return false;
    }
    if (static_cast<int32_t>(cq->producer - 1 - wqe.wait.index) < 0) {
      std::vector<uint32_t>& waiters = cq->waiters;
      if (std::find(waiters.begin(), waiters.end(), qp.qpn) == waiters.end()) {
        waiters.push_back(qp.qpn);
      }
      *blocked = Blocked::kWait;
      return false;
    }
  } else if (wqe.opcode == abi::Opcode::kDump && !CheckLocal(qp, wqe, 0)) {
    wqe.Fail(abi::Syndrome::kLocalProtection, 0x51);
    return false;
  }
  wqe.traits |= kWqeExecuted;
  return true;
}

bool Rnic::Build(QpContext& qp, SendWqe& wqe, uint32_t offset, wire::Packet& packet) {
  if (wqe.Is(kWqeFailed)) return false;
  packet.psn = qp.requester.send_psn;
  packet.pkey = 0xffff;
  packet.migrated = true;
  packet.fecn = packet.becn = false;
  packet.solicited = false;
  packet.dest_qpn = qp.dest_qpn;
  if (!BuildRequest(qp, wqe, offset, packet)) {
    wqe.Fail(abi::Syndrome::kLocalProtection, 0x51);
    return false;
  }
  counters_.payload_bytes_sent += packet.payload.size();
  if (qp.service == wire::Service::kRc || qp.service == wire::Service::kUc) return true;
  const SendTarget& target = qp.requester.window.TargetOf(qp.requester.send);
  packet.dest_qpn = target.qpn;
  packet.source_qpn = qp.qpn;
  packet.dc_key = target.dc_key;
  // The upper bit asks for the QP's own.
  packet.qkey = (target.qkey & 0x80000000) != 0 ? qp.attributes.qkey : target.qkey;
  return true;
}

bool Rnic::BuildRequest(QpContext& qp, SendWqe& wqe, uint32_t offset, wire::Packet& packet) {
  const uint64_t done = uint64_t{offset} * qp.mtu;
  packet.remote_address = wqe.remote_address + done;
  packet.remote_key = wqe.remote_key;
  packet.immediate = wqe.immediate;
  packet.invalidate_key = abi::Swap32(wqe.immediate);
  if (wqe.Is(kWqeAnswered)) {
    packet.opcode = wire::OnService(AnsweredOpcode(wqe.opcode), qp.service);
    packet.dma_length = wqe.bytes - static_cast<uint32_t>(done);
    packet.payload.clear();
    packet.ack_request = true;
    if (offset == 0 && !CheckLocal(qp, wqe, kMayWriteLocally)) return false;
    if (wqe.Is(kWqeAtomic)) {
      uint8_t operands[32];
      if (wqe.opcode == abi::Opcode::kAtomicMaskedCompareSwap && wqe.atomic_bytes == 8) {
        const uint32_t at = (wqe.data_segment - 2u) * abi::kSegmentBytes;
        if (!ReadRing(qp, IndexOf(qp, wqe), at, operands, sizeof(operands))) return false;
        FillAtomic(wqe, operands, packet);
      } else if (wqe.atomic_bytes == 4) {
        FillAtomic(wqe, wqe.payload, packet);
      } else {
        packet.swap_add = wqe.atomic.swap_add;
        packet.compare = wqe.atomic.compare;
        packet.compare_mask = wqe.atomic.compare;
        packet.swap_mask = 0;
        packet.atomic_bytes = 8;
      }
    }
    if (!wqe.Is(kWqeCounted)) {
      wqe.traits |= kWqeCounted;
      ++qp.requester.rds;
    }
    return true;
  }
  const bool first = offset == 0;
  const bool last = offset + 1 == wqe.packets;
  packet.opcode = wire::OnService(SegmentOpcode(wqe.opcode, first, last), qp.service);
  packet.dma_length = wqe.bytes;
  packet.solicited = last && (wqe.flags & abi::kSolicited) != 0;
  packet.ack_request = qp.Acknowledged() && Asks(qp, wqe, last);
  if (first && wqe.packets > 1 && !CheckLocal(qp, wqe, 0)) return false;
  const uint32_t bytes = last ? wqe.bytes - static_cast<uint32_t>(done) : qp.mtu;
  return Gather(qp, wqe, static_cast<uint32_t>(done), bytes, packet);
}

// Whether this packet asks for an acknowledgement: so that a signalled WQE completes, so that the
// last one is known to have arrived, and so that nothing waits for long.
bool Rnic::Asks(QpContext& qp, const SendWqe& wqe, bool last) {
  Requester& r = qp.requester;
  const bool end = last && (wqe.Signalled() || NextNeedsAnswer(qp));
  if (!end && ++r.packets_since_request < config_.packets_per_ack) return false;
  r.packets_since_request = 0;
  return true;
}

void Rnic::ArmAck(QpContext& qp, TimerRequest* timer) {
  if (qp.attributes.timeout == 0) return;
  Requester& r = qp.requester;
  r.timer_armed = true;
  r.unanswered_when_armed = r.unanswered;
  *timer = {true, TimerKind::kAck, qp.attributes.timeout, r.generation};
}

}  // namespace ringpost::sim
