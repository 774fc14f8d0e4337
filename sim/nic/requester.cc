// The requester: doorbells, fetching and parsing WQEs, local keys.
#include <algorithm>
#include <cstring>

#include "sim/nic/nic.h"

namespace ringpost::sim {
namespace {

constexpr uint32_t kMaxWqeBytes = abi::WqebbsOf(abi::kMaxSegments) * abi::kWqebbBytes;

uint32_t Big32(const uint8_t* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return abi::Swap32(value);
}

uint64_t Big64(const uint8_t* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return abi::Swap64(value);
}

}  // namespace

QueuePair& Nic::CreateQp(const QpConfig& config) {
  auto qp = std::make_unique<QueuePair>();
  qp->qpn = kFirstQpn + static_cast<uint32_t>(qps_.size());
  qp->config = config;
  qps_.push_back(std::move(qp));
  return *qps_.back();
}

void Nic::Connect(uint32_t qpn, uint32_t peer_node, uint32_t peer_qpn) {
  QueuePair* qp = FindQp(qpn);
  qp->peer_node = peer_node;
  qp->peer_qpn = peer_qpn;
  qp->state = QpState::kReady;
}

// The index is a serial number modulo 2^16; a doorbell that is not ahead announces nothing.
QueuePair* Nic::RingDoorbell(uint64_t value) {
  ++counters_.doorbells;
  const abi::DoorbellFields fields = abi::DecodeDoorbell(value);
  QueuePair* qp = FindQp(fields.qpn);
  if (qp == nullptr) return nullptr;
  // What follows the index to the left is the opcode modifier.
  if ((abi::Swap32(static_cast<uint32_t>(value)) >> 24) != 0) ++counters_.reserved_bits;
  const uint16_t ahead = static_cast<uint16_t>(fields.producer - qp->producer);
  if (qp->state == QpState::kError) {
    const uint64_t announced = qp->producer + (ahead > abi::kMaxDepthWqebbs ? 0 : ahead);
    qp->producer = std::max(qp->producer, ProducerFromRecord(*qp, announced));
    FlushUnfetched(*qp);
    return nullptr;
  }
  if (qp->state != QpState::kReady) return nullptr;
  if (ahead == 0 || ahead > abi::kMaxDepthWqebbs) {
    ++counters_.doorbells_merged;
    return nullptr;
  }
  qp->producer += ahead;
  if (qp->producer - qp->fetched > qp->config.depth) ++counters_.ring_overruns;
  return qp;
}

bool Nic::ReadBlocks(QueuePair& qp, uint64_t index, uint8_t* bytes, uint32_t blocks) {
  for (uint32_t i = 0; i < blocks; ++i) {
    const uint64_t slot = (index + i) & (qp.config.depth - 1);
    if (!dma_.Read(qp.qpn, qp.config.sq + slot * abi::kWqebbBytes, bytes + i * abi::kWqebbBytes,
                   abi::kWqebbBytes)) {
      return false;
    }
  }
  return true;
}

void Nic::ConsumeWqe(QueuePair& qp, uint64_t index, uint32_t size) {
  for (uint32_t done = 0; done < size; done += abi::kWqebbBytes, ++index) {
    const uint64_t slot = index & (qp.config.depth - 1);
    dma_.Consume(qp.qpn, Purpose::kWqe, index, qp.config.sq + slot * abi::kWqebbBytes,
                 std::min(size - done, abi::kWqebbBytes));
  }
}

bool Nic::FetchNext(QueuePair& qp, Work& work) {
  if (qp.state != QpState::kReady || qp.fetched == qp.producer) return false;
  work.qpn = qp.qpn;
  work.peer_qpn = qp.peer_qpn;
  work.index = qp.fetched;
  work.status = WorkStatus::kOk;
  work.syndrome = abi::Syndrome::kNone;
  work.needs_payload = false;
  work.bytes = 0;
  work.packets = 1;
  work.wqebbs = 1;
  work.payload.clear();
  // The control segment, in the first block, says how many more there are.
  uint8_t wqe[kMaxWqeBytes];
  uint32_t segments = 0;
  bool whole = ReadBlocks(qp, work.index, wqe, 1);
  if (whole) {
    segments = Big32(wqe + 4) & 0x3f;
    work.wqebbs = std::max(1u, abi::WqebbsOf(segments));
    if (((Big32(wqe) >> 8) & 0xffff) != (work.index & 0xffff)) ++counters_.wqe_index_mismatches;
    if (wqe[0] != 0) ++counters_.reserved_bits;
    whole = segments >= 1 && work.wqebbs <= qp.producer - qp.fetched &&
            ReadBlocks(qp, work.index + 1, wqe + abi::kWqebbBytes, work.wqebbs - 1);
    ConsumeWqe(qp, work.index, whole ? segments * abi::kSegmentBytes : abi::kSegmentBytes);
  }
  work.opcode = static_cast<abi::Opcode>(wqe[3]);
  work.flags = wqe[11];
  if (!whole || !Parse(wqe, segments, work)) {
    SetLocalError(work, abi::Syndrome::kLocalQpOperation, 0x68);
  }
  qp.fetched += std::min<uint64_t>(work.wqebbs, qp.producer - qp.fetched);
  work.packets = std::max(1u, (work.bytes + mtu_ - 1) / mtu_);
  work.psn = qp.next_psn;
  qp.next_psn = (qp.next_psn + work.packets) & 0xffffff;
  ++counters_.wqes;
  qp.outstanding.push_back({work.index, work.opcode, work.Signalled()});
  ApplyInjected(qp, work);
  return true;
}

bool Nic::Parse(const uint8_t* wqe, uint32_t segments, Work& work) const {
  if (work.opcode == abi::Opcode::kNop) return true;
  const bool write = work.opcode == abi::Opcode::kRdmaWrite;
  if ((!write && work.opcode != abi::Opcode::kRdmaRead) || segments < 2) return false;
  work.remote_address = Big64(wqe + 16);
  work.remote_key = Big32(wqe + 24);
  if (segments == 2) return true;  // zero length
  const uint32_t count = Big32(wqe + 32);
  work.inline_payload = write && (count & abi::kInlineFlag) != 0;
  if (work.inline_payload) {
    work.bytes = count & ~abi::kInlineFlag;
    if (2 + abi::InlineSegments(work.bytes) > segments) return false;
    work.payload.assign(wqe + 36, wqe + 36 + work.bytes);
    return true;
  }
  if ((count & abi::kInlineFlag) != 0 || segments != 3) return false;
  work.bytes = count;
  work.local_key = Big32(wqe + 36);
  work.local_address = Big64(wqe + 40);
  work.needs_payload = write;
  return true;
}

void Nic::ReadPayload(QueuePair& qp, Work& work) {
  if (work.status != WorkStatus::kOk || work.bytes == 0 || work.inline_payload) return;
  const uint8_t rights = work.IsRead() ? kLocalWrite : 0;
  if (!keys_.Allows(work.local_key, work.local_address, work.bytes, rights)) {
    SetLocalError(work, abi::Syndrome::kLocalProtection, 0x51);
    return;
  }
  if (!work.needs_payload) return;
  work.payload.resize(work.bytes);
  if (!dma_.Read(qp.qpn, work.local_address, work.payload.data(), work.bytes)) {
    SetLocalError(work, abi::Syndrome::kLocalProtection, 0x51);
    return;
  }
  dma_.Consume(qp.qpn, Purpose::kPayload, work.index, work.local_address, work.bytes);
}

void Nic::ApplyInjected(QueuePair& qp, Work& work) {
  if (injected_.empty()) return;
  const auto found = injected_.find(qp.qpn);
  if (found == injected_.end()) return;
  const uint64_t number = fetched_wqes_[qp.qpn]++;
  for (const InjectedError& error : found->second) {
    if (error.wqe == number) SetLocalError(work, error.syndrome, 0);
  }
}

void Nic::SetLocalError(Work& work, abi::Syndrome syndrome, uint8_t vendor) {
  work.status = WorkStatus::kLocalError;
  work.syndrome = syndrome;
  work.vendor_syndrome = vendor;
}

void Nic::SetRemoteError(Work& work, abi::Syndrome syndrome, uint8_t vendor) {
  work.status = WorkStatus::kRemoteError;
  work.syndrome = syndrome;
  work.vendor_syndrome = vendor;
}

}  // namespace ringpost::sim
