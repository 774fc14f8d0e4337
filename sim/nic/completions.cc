// Completions: CQEs with the contract's layout, overruns and events.
#include <cstring>

#include "sim/nic/rnic.h"
#include "transport/abi/byte_order.h"

namespace ringpost::sim {
namespace {

constexpr uint32_t kRecordConsumer = 0;
constexpr uint32_t kRecordArm = 4;
constexpr uint8_t kSolicitedBit = 2;

uint32_t UserIndex(const QpContext& qp) {
  return qp.config.user_index == kUserIndexIsQpn ? qp.qpn : qp.config.user_index;
}

void SetError(abi::Cqe& cqe, abi::Syndrome syndrome, uint8_t vendor) {
  uint8_t* bytes = reinterpret_cast<uint8_t*>(&cqe);
  bytes[abi::kErrorVendorSyndromeOffset] = vendor;
  bytes[abi::kErrorSyndromeOffset] = static_cast<uint8_t>(syndrome);
}

}  // namespace

bool Rnic::HasRoom(uint32_t qpn, CompletionQueue& cq) {
  if (cq.config.overrun_ignore || cq.config.record == 0) return true;
  if (cq.producer - cq.consumer < cq.config.entries) return true;
  uint32_t word = 0;
  if (!dma_.ReadRecord(qpn, cq.config.record + kRecordConsumer, &word)) return false;
  const uint32_t consumer = WidenIndex(abi::Swap32(word) & 0xffffff, cq.producer);
  if (cq.producer - consumer <= cq.config.entries) cq.consumer = consumer;
  return cq.producer - cq.consumer < cq.config.entries;
}

// Software hears of it by the event alone: nothing more is written.
void Rnic::FailCq(CompletionQueue& cq) {
  cq.failed = true;
  events_.push_back({EventKind::kCqError, cq.cqn});
}

// Writes the next entry, which is free. False if it is not there.
bool Rnic::PutCqe(uint32_t qpn, CompletionQueue& cq, abi::Cqe& cqe, abi::CqeOpcode opcode,
                  uint8_t flags) {
  const uint32_t count = cq.config.entries, bytes = cq.config.entry_bytes;
  const uint8_t owner = (cq.producer & count) != 0 ? 1 : 0;
  cqe.op_own = static_cast<uint8_t>((static_cast<uint8_t>(opcode) << 4) | flags | owner);
  const uint64_t slot = cq.config.collapsed ? 0 : cq.producer & (count - 1);
  const uint64_t entry = cq.config.ring + slot * bytes;
  const uint32_t padding = bytes - abi::kCqeBytes;
  if (cq.config.padded && padding != 0) {
    constexpr uint8_t kZeros[abi::kCqeBytes] = {};
    if (!dma_.Write(qpn, entry, kZeros, padding)) return false;
  }
  if (!dma_.WriteCqe(qpn, entry + padding, &cqe)) return false;
  ++cq.producer;
  ++counters_.cqes;
  return true;
}

// False if the CQ cannot take it: the QP is to enter ERR.
bool Rnic::WriteCqe(QpContext& qp, CompletionQueue& cq, abi::Cqe& cqe, abi::CqeOpcode opcode,
                    bool solicited) {
  if (cq.failed) return false;
  if (!HasRoom(qp.qpn, cq)) {
    ++counters_.cq_overruns;
    FailCq(cq);
    return false;
  }
  const bool error = opcode >= abi::CqeOpcode::kRequesterError;
  cqe.srqn_uidx = abi::Swap32(UserIndex(qp));
  if (!PutCqe(qp.qpn, cq, cqe, opcode, solicited && !error ? kSolicitedBit : 0)) {
    FailCq(cq);
    return false;
  }
  if (solicited) cq.last_solicited = cq.producer;
  if (cq.arm != Arm::kNone) Notify(cq, solicited);
  if (!cq.waiters.empty()) {
    for (const uint32_t waiter : cq.waiters) events_.push_back({EventKind::kWaitOver, waiter});
    cq.waiters.clear();
  }
  return true;
}

void Rnic::Notify(CompletionQueue& cq, bool solicited) {
  if (cq.arm == Arm::kSolicited && !solicited) return;
  cq.arm = Arm::kNone;
  cq.last_notified = cq.producer;
  events_.push_back({EventKind::kCompletion, cq.cqn});
}

bool Rnic::CompleteSend(QpContext& qp, const SendWqe& wqe) {
  abi::Cqe cqe{};
  cqe.sop_drop_qpn = abi::Swap32((static_cast<uint32_t>(wqe.opcode) << 24) | qp.qpn);
  cqe.wqe_counter = abi::Swap16(wqe.index);
  if (wqe.Is(kWqeAnswered)) cqe.byte_cnt = abi::Swap32(wqe.bytes);
  return WriteCqe(qp, *qp.send_cq, cqe, abi::CqeOpcode::kRequester, false);
}

void Rnic::WriteSendError(QpContext& qp, uint16_t index, abi::Opcode opcode, abi::Syndrome syndrome,
                          uint8_t vendor) {
  abi::Cqe cqe{};
  cqe.sop_drop_qpn = abi::Swap32((static_cast<uint32_t>(opcode) << 24) | qp.qpn);
  cqe.wqe_counter = abi::Swap16(index);
  SetError(cqe, syndrome, vendor);
  if (WriteCqe(qp, *qp.send_cq, cqe, abi::CqeOpcode::kRequesterError, true)) {
    ++counters_.error_cqes;
  }
}

void Rnic::WriteReceiveError(QpContext& qp, uint16_t index, abi::Syndrome syndrome,
                             uint8_t vendor) {
  abi::Cqe cqe{};
  cqe.sop_drop_qpn = abi::Swap32(qp.qpn);
  cqe.wqe_counter = abi::Swap16(index);
  SetError(cqe, syndrome, vendor);
  if (WriteCqe(qp, *qp.receive_cq, cqe, abi::CqeOpcode::kResponderError, true)) {
    ++counters_.error_cqes;
  }
}

// The last packet of a message that takes a receive WQE.
void Rnic::FinishMessage(QpContext& qp, Responder& r, const wire::Packet& packet,
                         const Address& from) {
  abi::Cqe cqe{};
  const bool write = wire::IsWrite(packet.opcode);
  abi::CqeOpcode opcode = abi::CqeOpcode::kResponderSend;
  if (write) {
    opcode = abi::CqeOpcode::kResponderWriteImm;
  } else if (wire::HasImmediate(packet.opcode)) {
    opcode = abi::CqeOpcode::kResponderSendImm;
  } else if (wire::HasIeth(packet.opcode)) {
    opcode = abi::CqeOpcode::kResponderSendInvalidate;
  }
  if (wire::HasImmediate(packet.opcode)) cqe.imm_inval_pkey = packet.immediate;
  if (wire::HasIeth(packet.opcode)) cqe.imm_inval_pkey = abi::Swap32(packet.invalidate_key);
  const bool names_source = wire::HasDeth(packet.opcode) || wire::HasDcHeader(packet.opcode);
  const uint32_t remote = names_source ? packet.source_qpn : qp.dest_qpn;
  const uint32_t grh = from.global ? 1u << 28 : 0;
  cqe.flags_rqpn = abi::Swap32(grh | (uint32_t{from.sl} << 24) | (remote & 0xffffff));
  cqe.slid = abi::Swap16(from.lid);
  cqe.ml_path = from.path_bits;
  cqe.byte_cnt = abi::Swap32(r.received);
  cqe.sop_drop_qpn = abi::Swap32(qp.qpn);
  cqe.wqe_counter = abi::Swap16(r.receive.index);
  r.receive.taken = false;
  if (!WriteCqe(qp, *qp.receive_cq, cqe, opcode, packet.solicited)) EnterError(qp);
}

void Rnic::RingArm(uint64_t value) {
  const uint32_t cqn = abi::Swap32(static_cast<uint32_t>(value >> 32)) & 0xffffff;
  CompletionQueue* cq = FindCq(cqn);
  if (cq == nullptr) return;
  const ArmWord word = DecodeArm(abi::Swap32(static_cast<uint32_t>(value)));
  cq->arm = word.arm;
  // What came since software looked, and since the last event, is notified at once: of what an
  // event has told, also if software arms before it looks, none tells again.
  uint32_t consumer = WidenIndex(word.consumer, cq->producer);
  if (static_cast<int32_t>(cq->last_notified - consumer) > 0) consumer = cq->last_notified;
  const uint32_t newest = word.arm == Arm::kAny ? cq->producer : cq->last_solicited;
  if (static_cast<int32_t>(newest - consumer) > 0) Notify(*cq, true);
}

void Rnic::RefreshArm(uint32_t cqn) {
  CompletionQueue* cq = FindCq(cqn);
  uint32_t word = 0;
  if (cq == nullptr || cq->config.record == 0 || cq->failed) return;
  if (!dma_.ReadRecord(0, cq->config.record + kRecordArm, &word)) {
    FailCq(*cq);
    return;
  }
  RingArm((uint64_t{abi::Swap32(cqn)} << 32) | word);
}

}  // namespace ringpost::sim
