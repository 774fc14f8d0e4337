#include "sim/nic/receive_queue.h"

#include <algorithm>

#include "sim/nic/big_endian.h"

namespace ringpost::sim {
namespace {

constexpr uint32_t kListHeadBytes = 16;  // of an SRQ's WQE

}  // namespace

bool ReceiveQueue::Load(Dma& dma, uint32_t qpn, uint32_t index, List* list) const {
  uint8_t wqe[kMaxReceiveWqeBytes];
  const uint64_t address = config_.ring + uint64_t{index} * config_.stride;
  if (!dma.Read(qpn, address, wqe, config_.stride)) return false;
  uint32_t at = 0;
  if (config_.linked) {
    list->next = Big16(wqe + 2);
    at = kListHeadBytes;
  }
  list->count = 0;
  list->used_bytes = at;
  for (; at + 16 <= config_.stride; at += 16) {
    const Entry entry{Big32(wqe + at), Big32(wqe + at + 4), Big64(wqe + at + 8)};
    list->used_bytes = at + 16;
    if (entry.bytes == 0 && entry.key == kEndOfListKey) break;
    if (entry.bytes != 0) list->entries[list->count++] = entry;
  }
  return true;
}

bool ReceiveQueue::Refresh(Dma& dma, uint32_t qpn) {
  uint32_t word = 0;
  if (!dma.ReadRecord(qpn, config_.record, &word)) return false;
  const uint32_t posted = abi::Swap32(word) & 0xffff;
  // A count that is behind, or further ahead than the ring is long, cannot be meant.
  if (((posted - taken_) & 0xffff) <= config_.wqes) posted_ = posted;
  return true;
}

Receives ReceiveQueue::Take(Dma& dma, uint32_t qpn, ReceiveWqe* wqe) {
  if (!Exists()) return Receives::kNone;
  if (Available() == 0 && !Refresh(dma, qpn)) return Receives::kUnreadable;
  if (Available() == 0) return Receives::kNone;
  const uint32_t index = (config_.linked ? next_ : taken_) & (config_.wqes - 1);
  List list;
  if (!Load(dma, qpn, index, &list)) return Receives::kUnreadable;
  dma.Consume(qpn, Purpose::kReceiveWqe, index, config_.ring + uint64_t{index} * config_.stride,
              list.used_bytes);
  next_ = list.next;
  taken_ = (taken_ + 1) & 0xffff;
  *wqe = {static_cast<uint16_t>(config_.linked ? index : (taken_ - 1) & 0xffff), true};
  return Receives::kTaken;
}

Scatter ReceiveQueue::Holds(Dma& dma, uint32_t qpn, const ReceiveWqe& wqe, uint64_t bytes) const {
  List list;
  if (!Load(dma, qpn, wqe.index & (config_.wqes - 1), &list)) return Scatter::kProtection;
  uint64_t held = 0;
  for (uint32_t i = 0; i < list.count; ++i) held += list.entries[i].bytes;
  return bytes <= held ? Scatter::kOk : Scatter::kTooLong;
}

Scatter ReceiveQueue::Place(Dma& dma, uint32_t qpn, const Protection& keys, uint32_t pd,
                            const ReceiveWqe& wqe, uint64_t offset, const uint8_t* data,
                            uint64_t bytes) const {
  if (bytes == 0) return Scatter::kOk;
  List list;
  if (!Load(dma, qpn, wqe.index & (config_.wqes - 1), &list)) return Scatter::kProtection;
  for (uint32_t i = 0; i < list.count && bytes != 0; ++i) {
    const Entry& entry = list.entries[i];
    if (offset >= entry.bytes) {
      offset -= entry.bytes;
      continue;
    }
    const uint64_t part = std::min<uint64_t>(bytes, entry.bytes - offset);
    uint64_t address = 0;
    if (!keys.Translate(entry.key, pd, entry.address + offset, part, kMayWriteLocally, &address) ||
        !dma.Write(qpn, address, data, part)) {
      return Scatter::kProtection;
    }
    data += part;
    bytes -= part;
    offset = 0;
  }
  return bytes == 0 ? Scatter::kOk : Scatter::kTooLong;
}

}  // namespace ringpost::sim
