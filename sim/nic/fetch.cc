// Doorbells, and reading WQEs from the ring into the send window.
#include <algorithm>

#include "sim/nic/big_endian.h"
#include "sim/nic/rnic.h"
#include "sim/nic/syndromes.h"
#include "sim/nic/wqe_parser.h"
#include "transport/abi/doorbell.h"

namespace ringpost::sim {

// The index is a serial number modulo 2^16; a doorbell that is not ahead announces nothing.
QpContext* Rnic::RingDoorbell(uint64_t value) {
  ++counters_.doorbells;
  const abi::DoorbellFields fields = abi::DecodeDoorbell(value);
  QpContext* qp = FindQp(fields.qpn);
  if (qp == nullptr || qp->config.sq_wqebbs == 0) {
    ++counters_.doorbells_stray;
    return nullptr;
  }
  // What follows the index to the left is the opcode modifier.
  if ((abi::Swap32(static_cast<uint32_t>(value)) >> 24) != 0) ++counters_.reserved_bits;
  Requester& r = qp->requester;
  if (qp->state == State::kError || qp->state == State::kSendQueueError) {
    const uint16_t ahead = static_cast<uint16_t>(fields.producer - r.announced);
    if (ahead <= abi::kMaxDepthWqebbs) r.announced += ahead;
    RefreshFromRecord(*qp);
    return nullptr;
  }
  if (qp->state != State::kReadyToSend && qp->state != State::kSendQueueDrain) {
    ++counters_.doorbells_stray;
    return nullptr;
  }
  const uint16_t ahead = static_cast<uint16_t>(fields.producer - r.producer);
  if (ahead == 0 || ahead > abi::kMaxDepthWqebbs) {
    ++counters_.doorbells_merged;
    return nullptr;
  }
  r.producer += ahead;
  r.announced = r.producer;
  if (r.producer - r.fetched > qp->config.sq_wqebbs) ++counters_.ring_overruns;
  return qp->state == State::kReadyToSend ? qp : nullptr;
}

// The producer that the record names, if it is at or ahead of what is fetched. False if there is no
// record.
bool Rnic::ReadCounter(QpContext& qp, uint64_t* producer) {
  Requester& r = qp.requester;
  uint32_t word = 0;
  const uint64_t address = qp.config.record + abi::kRecordSendOffset;
  dma_.Consume(qp.qpn, Purpose::kRecord, r.announced, address, sizeof(word));
  if (!dma_.ReadRecord(qp.qpn, address, &word)) return false;
  const uint16_t counter = static_cast<uint16_t>(abi::Swap32(word));
  const uint64_t oldest = r.head == r.tail ? r.fetched : IndexOf(qp, r.window.At(r.head));
  const uint16_t ahead = static_cast<uint16_t>(counter - static_cast<uint16_t>(oldest));
  if (ahead <= abi::kMaxDepthWqebbs) *producer = oldest + ahead;
  return true;
}

bool Rnic::RefreshFromRecord(QpContext& qp) {
  Requester& r = qp.requester;
  uint64_t producer = 0;
  const bool sends = qp.state == State::kReadyToSend || qp.state == State::kSendQueueDrain;
  const bool flushes = qp.state == State::kError || qp.state == State::kSendQueueError;
  if (qp.config.sq_wqebbs != 0 && (sends || flushes) && !ReadCounter(qp, &producer) && sends) {
    FailQp(qp);
    return false;
  }
  if (producer > r.producer) {
    r.producer = producer;
    if (r.producer - r.fetched > qp.config.sq_wqebbs) ++counters_.ring_overruns;
  }
  if (flushes) {
    FlushSends(qp, r.producer, vendor::kFlush);
    if (qp.state == State::kError) FlushReceives(qp);
    return false;
  }
  return qp.state == State::kReadyToSend && r.fetched != r.producer;
}

// Bytes of the WQE at `index`, from `offset` on; a WQE goes on at the ring's start.
bool Rnic::ReadRing(QpContext& qp, uint64_t index, uint32_t offset, uint8_t* bytes, uint32_t size) {
  const uint64_t mask = uint64_t{qp.config.sq_wqebbs} * abi::kWqebbBytes - 1;
  uint64_t at = (index * abi::kWqebbBytes + offset) & mask;
  while (size != 0) {
    const uint32_t part =
        std::min(size, abi::kWqebbBytes - static_cast<uint32_t>(at % abi::kWqebbBytes));
    if (!dma_.Read(qp.qpn, qp.config.sq + at, bytes, part)) return false;
    bytes += part;
    size -= part;
    at = (at + part) & mask;
  }
  return true;
}

void Rnic::ConsumeRing(QpContext& qp, uint64_t index, uint32_t size) {
  for (uint32_t done = 0; done < size; done += abi::kWqebbBytes, ++index) {
    const uint64_t slot = index & (qp.config.sq_wqebbs - 1);
    dma_.Consume(qp.qpn, Purpose::kWqe, index, qp.config.sq + slot * abi::kWqebbBytes,
                 std::min(size - done, abi::kWqebbBytes));
  }
}

Fetched Rnic::FetchNext(QpContext& qp) {
  Requester& r = qp.requester;
  if (r.fetched == r.producer || qp.state != State::kReadyToSend) return Fetched::kNothing;
  if (!r.window.MakeRoom(r.head, r.tail)) return Fetched::kWindowFull;
  // The control segment, in the first block, says how many more there are.
  alignas(abi::kWqebbBytes) uint8_t bytes[kMaxSendWqeBytes];
  const uint64_t index = r.fetched;
  SendWqe& wqe = r.window.At(r.tail);
  const uint64_t slot = index & (qp.config.sq_wqebbs - 1);
  const uint64_t address = qp.config.sq + slot * abi::kWqebbBytes;
  const bool read = dma_.Read(qp.qpn, address, bytes, abi::kWqebbBytes);
  if (!read) [[unlikely]] {
    std::fill_n(bytes, abi::kWqebbBytes, uint8_t{0});
  }
  const uint32_t first = Big32(bytes), second = Big32(bytes + 4);
  const uint32_t segments = second & 0x3f;
  uint32_t blocks = 1;
  if (read && segments - 1 < abi::kSegmentsPerWqebb) {
    dma_.Consume(qp.qpn, Purpose::kWqe, index, address, segments * abi::kSegmentBytes);
    if (!ParseShortWrite(bytes, qp.rules, wqe)) {
      ParseWqe(bytes, qp.rules, wqe, qp.Addressed() ? &r.window.TargetOf(r.tail) : nullptr);
    }
  } else {
    blocks = FetchLong(qp, wqe, read, bytes);
  }
  if (((first >> 8) & 0xffff) != (index & 0xffff)) ++counters_.wqe_index_mismatches;
  if ((second >> 8) != qp.qpn) ++counters_.wqe_qpn_mismatches;
  // Only atomics have an opcode modifier.
  const bool modified = (first >> 24) != 0 && !wqe.Is(kWqeAtomic);
  if (modified || (second & 0xc0) != 0) ++counters_.reserved_bits;
  wqe.index = static_cast<uint16_t>(index);
  r.fetched += blocks;
  ++counters_.wqes;
  if (qp.type == QpType::kDci || !qp.injected.empty()) {
    Place(qp, wqe, r.tail);
  } else {
    wqe.first_psn = r.next_psn;
    r.next_psn = PsnAfter(r.next_psn, wqe.packets);
    ++r.wqes;
  }
  ++r.tail;
  return Fetched::kWqe;
}

// A WQE of other than one block; returns how many it takes. What cannot be read whole has failed.
uint32_t Rnic::FetchLong(QpContext& qp, SendWqe& wqe, bool read, uint8_t* bytes) {
  Requester& r = qp.requester;
  const uint32_t segments = bytes[7] & 0x3f;
  const uint32_t blocks = std::max(1u, abi::WqebbsOf(segments));
  const uint64_t announced = r.producer - r.fetched;
  bool whole = read && segments != 0 && blocks <= announced;
  whole = whole &&
          ReadRing(qp, r.fetched + 1, 0, bytes + abi::kWqebbBytes, (blocks - 1) * abi::kWqebbBytes);
  if (read) ConsumeRing(qp, r.fetched, (whole ? segments : 1) * abi::kSegmentBytes);
  if (!whole) bytes[7] = 0;
  ParseWqe(bytes, qp.rules, wqe, qp.Addressed() ? &r.window.TargetOf(r.tail) : nullptr);
  return static_cast<uint32_t>(std::min<uint64_t>(blocks, announced));
}

// Gives the WQE its PSNs.
void Rnic::Place(QpContext& qp, SendWqe& wqe, uint32_t number) {
  Requester& r = qp.requester;
  for (const InjectedFailure& failure : qp.injected) {
    if (failure.wqe == r.wqes) wqe.Fail(failure.syndrome, 0);
  }
  ++r.wqes;
  if (qp.type == QpType::kDci && !wqe.Is(kWqeLocal | kWqeFailed)) {
    SendTarget& target = r.window.TargetOf(number);
    target.stream = StreamOf(qp, target);
    uint32_t& next = qp.streams[target.stream].next_psn;
    wqe.first_psn = next;
    next = PsnAfter(next, wqe.packets);
    return;
  }
  wqe.first_psn = r.next_psn;
  if (!wqe.Is(kWqeFailed)) r.next_psn = PsnAfter(r.next_psn, wqe.packets);
}

}  // namespace ringpost::sim
