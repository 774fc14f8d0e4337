// READs and atomics at their target: executed in PSN order, answered as fast as the wire takes it,
// and answered again when the answer was lost.
#include <algorithm>

#include "sim/nic/atomics.h"
#include "sim/nic/rnic.h"
#include "sim/nic/syndromes.h"

namespace ringpost::sim {
namespace {

RdResponses& RdOf(Responder& r) {
  if (r.rd == nullptr) r.rd = std::make_unique<RdResponses>();
  return *r.rd;
}

PendingResponse& Append(RdResponses& rd) {
  PendingResponse& pending = rd.At(rd.count++);
  pending.started = false;
  pending.atomic = false;
  pending.replay = false;
  pending.lost = false;
  pending.saved.clear();
  pending.saved_offset = 0;
  return pending;
}

// Whoever misses them asks again.
void DropReplays(RdResponses& rd) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < rd.count; ++i) {
    if (rd.At(i).replay) continue;
    if (kept != i) std::swap(rd.At(kept), rd.At(i));
    ++kept;
  }
  rd.count = kept;
}

uint64_t NextOf(const void* packet, uint64_t old) {
  return ApplyAtomic(*static_cast<const wire::Packet*>(packet), old);
}

uint32_t PacketsOf(uint32_t bytes, uint32_t mtu) {
  return bytes <= mtu ? 1 : (bytes + mtu - 1) / mtu;
}

// The next `bytes` of a READ, as they were when it was executed.
bool NextBytes(Dma& dma, uint32_t qpn, PendingResponse& pending, uint32_t bytes, uint8_t* out) {
  if (pending.lost) return false;
  if (!pending.saved.empty()) {
    std::copy_n(pending.saved.data() + pending.saved_offset, bytes, out);
    pending.saved_offset += bytes;
    return true;
  }
  if (bytes == 0) return true;
  if (!dma.Read(qpn, pending.address, out, bytes)) return false;
  dma.Consume(qpn, Purpose::kPayload, 0, pending.address, bytes);
  return true;
}

}  // namespace

bool Rnic::HasRoomForRd(QpContext& qp, Responder& r) {
  const uint32_t most = std::min<uint32_t>(qp.attributes.max_dest_rd_atomic, RdResponses::kDepth);
  RdResponses& rd = RdOf(r);
  uint32_t fresh = 0;
  for (uint32_t i = 0; i < rd.count; ++i) fresh += rd.At(i).replay ? 0 : 1;
  if (fresh >= most) {
    Refuse(qp, r, {aeth::kInvalidRequest});
    return false;
  }
  if (rd.count == RdResponses::kDepth) DropReplays(rd);
  return true;
}

// The bytes are read when the response leaves; SaveBeforeWrite keeps them as they were until then.
bool Rnic::ExecuteRead(QpContext& qp, Responder& r, const wire::Packet& packet) {
  uint64_t address = 0;
  if (!HasRoomForRd(qp, r)) return false;
  if (packet.dma_length > config_.limits.message_bytes) {
    Refuse(qp, r, {aeth::kInvalidRequest});
    return false;
  }
  if (!MayTouch(qp, packet, packet.dma_length, kMayReadRemotely, &address)) {
    Refuse(qp, r, {aeth::kRemoteAccess});
    return false;
  }
  PendingResponse& pending = Append(*r.rd);
  pending.psn = r.expected;
  pending.packets = PacketsOf(packet.dma_length, qp.mtu);
  pending.address = address;
  pending.bytes = packet.dma_length;
  r.expected = PsnAfter(r.expected, pending.packets);
  // It speaks for all before it.
  r.trailing = Trailing::kNone;
  ++counters_.reads_executed;
  return true;
}

bool Rnic::ExecuteAtomic(QpContext& qp, Responder& r, const wire::Packet& packet) {
  const uint32_t bytes = wire::HasMaskedAtomicEth(packet.opcode) ? packet.atomic_bytes : 8;
  uint64_t address = 0;
  if (!HasRoomForRd(qp, r)) return false;
  if ((bytes != 4 && bytes != 8) || packet.remote_address % bytes != 0) {
    Refuse(qp, r, {aeth::kInvalidRequest});
    return false;
  }
  if (!MayTouch(qp, packet, bytes, kMayUseAtomics, &address)) {
    Refuse(qp, r, {aeth::kRemoteAccess});
    return false;
  }
  SaveBeforeWrite(qp, r, address, bytes);
  uint64_t original = 0;
  if (!dma_.Modify(qp.qpn, address, bytes, NextOf, &packet, &original)) {
    Refuse(qp, r, {aeth::kRemoteAccess});
    return false;
  }
  r.rd->executed[r.rd->executed_count++ % RdResponses::kDepth] = {r.expected, original};
  PendingResponse& pending = Append(*r.rd);
  pending.atomic = true;
  pending.psn = r.expected;
  pending.packets = 1;
  pending.original = original;
  r.expected = PsnAfter(r.expected, 1);
  r.trailing = Trailing::kNone;
  ++counters_.atomics_executed;
  return true;
}

// The answer to a READ or atomic that was executed before: READs read again, atomics do not happen
// again. What is still to be answered, or no longer known, is not answered twice.
void Rnic::Replay(QpContext& qp, Responder& r, const wire::Packet& packet) {
  if (r.rd == nullptr) return;
  RdResponses& rd = *r.rd;
  for (uint32_t i = 0; i < rd.count; ++i) {
    const int32_t offset = PsnDistance(rd.At(i).psn, packet.psn);
    if (offset >= 0 && offset < static_cast<int32_t>(rd.At(i).packets)) return;
  }
  if (rd.count == RdResponses::kDepth) return;
  if (wire::IsAtomic(packet.opcode)) {
    const uint32_t known = std::min(rd.executed_count, RdResponses::kDepth);
    for (uint32_t i = 0; i < known; ++i) {
      if (rd.executed[i].psn != packet.psn) continue;
      PendingResponse& pending = Append(rd);
      pending.atomic = true;
      pending.replay = true;
      pending.psn = packet.psn;
      pending.packets = 1;
      pending.original = rd.executed[i].original;
      ++counters_.atomics_replayed;
      return;
    }
    return;
  }
  if (packet.dma_length > config_.limits.message_bytes) return;
  const uint32_t packets = PacketsOf(packet.dma_length, qp.mtu);
  uint64_t address = 0;
  if (PsnDistance(PsnAfter(packet.psn, packets), r.expected) < 0) return;
  if (!MayTouch(qp, packet, packet.dma_length, kMayReadRemotely, &address)) return;
  PendingResponse& pending = Append(rd);
  pending.replay = true;
  pending.psn = packet.psn;
  pending.packets = packets;
  pending.address = address;
  pending.bytes = packet.dma_length;
}

// Something is about to write [address, address + bytes): READs that were to see what was there,
// and have not left yet, keep it. Rare; the only place where a message costs an allocation.
void Rnic::SaveBeforeWrite(QpContext& qp, Responder& r, uint64_t address, uint64_t bytes) {
  RdResponses& rd = *r.rd;
  for (uint32_t i = 0; i < rd.count; ++i) {
    PendingResponse& pending = rd.At(i);
    if (pending.atomic || pending.bytes == 0 || !pending.saved.empty()) continue;
    const bool apart = pending.address > address ? pending.address - address >= bytes
                                                 : address - pending.address >= pending.bytes;
    if (apart) continue;
    pending.saved.resize(pending.bytes);
    pending.saved_offset = 0;
    if (!dma_.Read(qp.qpn, pending.address, pending.saved.data(), pending.bytes)) {
      pending.saved.clear();
      pending.lost = true;
      continue;
    }
    dma_.Consume(qp.qpn, Purpose::kPayload, 0, pending.address, pending.bytes);
  }
}

// False where the READ cannot be answered, as its memory has gone under the key: it is refused, and
// with it all that wait behind it.
bool Rnic::BuildRdResponse(QpContext& qp, Responder& r, wire::Packet& packet) {
  using enum wire::Opcode;
  RdResponses& rd = *r.rd;
  PendingResponse& pending = rd.At(0);
  packet.psn = pending.psn;
  packet.syndrome = aeth::kAckNoCredits;
  packet.payload.clear();
  if (pending.atomic) {
    packet.opcode = wire::OnService(kRcAtomicAck, qp.service);
    packet.original = pending.original;
  } else {
    const bool last = pending.packets == 1;
    const wire::Opcode opcode =
        last ? (pending.started ? kRcReadResponseLast : kRcReadResponseOnly)
             : (pending.started ? kRcReadResponseMiddle : kRcReadResponseFirst);
    packet.opcode = wire::OnService(opcode, qp.service);
    const uint32_t bytes = last ? pending.bytes : qp.mtu;
    packet.payload.resize(bytes, boost::container::default_init);
    if (!NextBytes(dma_, qp.qpn, pending, bytes, packet.payload.data())) {
      rd.count = 0;
      Refuse(qp, r, {aeth::kRemoteAccess});
      // Requests behind it have been executed; the requester has to hear of this one.
      r.nak_psn = packet.psn;
      return false;
    }
    counters_.payload_bytes_sent += bytes;
    pending.address += bytes;
    pending.bytes -= bytes;
    pending.started = true;
    pending.psn = PsnAfter(pending.psn, 1);
  }
  if (--pending.packets == 0) {
    rd.first = (rd.first + 1) % RdResponses::kDepth;
    --rd.count;
  }
  return true;
}

}  // namespace ringpost::sim
