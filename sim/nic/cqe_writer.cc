// Completions: CQEs, and what happens to a QP after an error.
#include <algorithm>
#include <cstring>

#include "sim/nic/nic.h"

namespace ringpost::sim {
namespace {

// Vendor syndrome of every flush CQE but the head of a QP that was moved to ERR by software.
constexpr uint8_t kFlushVendorSyndrome = 0xf9;

}  // namespace

void Nic::WriteCqe(QueuePair& qp, const Work& work, bool error) {
  abi::Cqe cqe{};
  cqe.srqn_uidx = abi::Swap32(qp.qpn);
  cqe.sop_drop_qpn = abi::Swap32((static_cast<uint32_t>(work.opcode) << 24) | (qp.qpn & 0xffffff));
  cqe.wqe_counter = abi::Swap16(static_cast<uint16_t>(work.index));
  const uint32_t count = qp.config.cqe_count;
  const uint8_t owner = (qp.cqe_index & count) != 0 ? 1 : 0;
  const abi::CqeOpcode opcode =
      error ? abi::CqeOpcode::kRequesterError : abi::CqeOpcode::kRequester;
  cqe.op_own = static_cast<uint8_t>((static_cast<uint8_t>(opcode) << 4) | owner);
  if (error) {
    uint8_t* bytes = reinterpret_cast<uint8_t*>(&cqe);
    bytes[abi::kErrorVendorSyndromeOffset] = work.vendor_syndrome;
    bytes[abi::kErrorSyndromeOffset] = static_cast<uint8_t>(work.syndrome);
    ++counters_.error_cqes;
  } else if (work.IsRead()) {
    cqe.byte_cnt = abi::Swap32(work.bytes);
  }
  const uint64_t slot = qp.config.collapsed ? 0 : qp.cqe_index & (count - 1);
  ++qp.cqe_index;
  ++counters_.cqes;
  dma_.WriteCqe(qp.qpn, qp.config.cq + slot * abi::kCqeBytes, &cqe);
}

bool Nic::Acknowledge(QueuePair& qp, const Work& work) {
  if (qp.state != QpState::kReady) return false;
  while (!qp.outstanding.empty() && qp.outstanding.front().index <= work.index) {
    qp.outstanding.pop_front();
  }
  if (!work.Signalled()) return false;
  WriteCqe(qp, work, false);
  return true;
}

void Nic::Fail(QueuePair& qp, const Work& work) {
  if (qp.state != QpState::kReady) return;
  qp.state = QpState::kError;
  WriteCqe(qp, work, true);
  FlushFetched(qp, work.index);
  // In ERR the NIC takes its producer from the record: a stale record would hide the rest.
  qp.producer = std::max(qp.fetched, ProducerFromRecord(qp, qp.producer));
  FlushUnfetched(qp);
}

uint64_t Nic::ProducerFromRecord(QueuePair& qp, uint64_t announced) {
  uint32_t word = 0;
  const uint64_t address = qp.config.record + abi::kRecordSendOffset;
  dma_.Consume(qp.qpn, Purpose::kRecord, announced, address, sizeof(word));
  dma_.ReadRecord(qp.qpn, address, &word);
  const uint16_t counter = static_cast<uint16_t>(abi::Swap32(word));
  const uint16_t ahead = static_cast<uint16_t>(counter - static_cast<uint16_t>(qp.fetched));
  return ahead <= qp.config.depth ? qp.fetched + ahead : qp.fetched;
}

void Nic::FlushFetched(QueuePair& qp, uint64_t failed) {
  Work flushed;
  flushed.qpn = qp.qpn;
  flushed.syndrome = abi::Syndrome::kFlushed;
  flushed.vendor_syndrome = kFlushVendorSyndrome;
  for (const Outstanding& entry : qp.outstanding) {
    if (entry.index <= failed) continue;
    flushed.index = entry.index;
    flushed.opcode = entry.opcode;
    WriteCqe(qp, flushed, true);
  }
  qp.outstanding.clear();
}

void Nic::FlushUnfetched(QueuePair& qp) {
  Work flushed;
  flushed.qpn = qp.qpn;
  flushed.syndrome = abi::Syndrome::kFlushed;
  flushed.vendor_syndrome = kFlushVendorSyndrome;
  while (qp.fetched < qp.producer) {
    uint8_t control[abi::kWqebbBytes] = {};
    ReadBlocks(qp, qp.fetched, control, 1);
    ConsumeWqe(qp, qp.fetched, abi::kSegmentBytes);
    flushed.index = qp.fetched;
    flushed.opcode = static_cast<abi::Opcode>(control[3]);
    WriteCqe(qp, flushed, true);
    const uint32_t segments = control[7] & 0x3f;
    qp.fetched += std::max(1u, abi::WqebbsOf(segments));
  }
}

}  // namespace ringpost::sim
