// What a request does at its target: SENDs, WRITEs and datagrams.
#include <cstring>

#include "sim/nic/rnic.h"
#include "sim/nic/syndromes.h"

namespace ringpost::sim {
namespace {

constexpr uint32_t kGlobalRouteBytes = 40;

}  // namespace

bool Rnic::Execute(QpContext& qp, Responder& r, const wire::Packet& packet, const Address& from) {
  if (wire::IsWrite(packet.opcode)) return ExecuteWrite(qp, r, packet, from);
  if (wire::IsSend(packet.opcode)) return ExecuteSend(qp, r, packet, from);
  if (wire::IsAtomic(packet.opcode)) return ExecuteAtomic(qp, r, packet);
  return ExecuteRead(qp, r, packet);
}

// Whether a peer may do this, by the QP and by the key; nothing is checked of 0 bytes.
bool Rnic::MayTouch(QpContext& qp, const wire::Packet& packet, uint64_t bytes, uint8_t right,
                    uint64_t* address) {
  if (bytes == 0) return true;
  if ((qp.attributes.access & right) == 0) return false;
  return protection_.Translate(packet.remote_key, qp.pd, packet.remote_address, bytes, right,
                               address);
}

bool Rnic::ExecuteSend(QpContext& qp, Responder& r, const wire::Packet& packet,
                       const Address& from) {
  if (wire::StartsMessage(packet.opcode)) {
    if (!TakeReceive(qp, r)) return false;
    r.message = MessageKind::kSend;
    r.received = 0;
  } else if (r.message != MessageKind::kSend) {
    Refuse(qp, r, {aeth::kInvalidRequest, abi::Syndrome::kLocalQpOperation});
    return false;
  }
  const uint32_t bytes = static_cast<uint32_t>(packet.payload.size());
  if (r.rd != nullptr && bytes != 0) SaveBeforeWrite(qp, r, 0, ~uint64_t{0});
  switch (qp.receives->Place(dma_, qp.qpn, protection_, qp.pd, r.receive, r.received,
                             packet.payload.data(), bytes)) {
    case Scatter::kOk:
      break;
    case Scatter::kTooLong:
      Refuse(qp, r, {aeth::kInvalidRequest, abi::Syndrome::kLocalLength});
      return false;
    case Scatter::kProtection:
      Refuse(qp, r, {aeth::kRemoteOperation, abi::Syndrome::kLocalProtection});
      return false;
  }
  r.received += bytes;
  if (wire::HasIeth(packet.opcode) && !protection_.Invalidate(packet.invalidate_key, qp.pd)) {
    Refuse(qp, r, {aeth::kRemoteAccess, abi::Syndrome::kLocalQpOperation});
    return false;
  }
  r.expected = PsnAfter(r.expected, 1);
  if (wire::EndsMessage(packet.opcode)) FinishMessage(qp, r, packet, from);
  return true;
}

bool Rnic::ExecuteWrite(QpContext& qp, Responder& r, const wire::Packet& packet,
                        const Address& from) {
  const bool ends = wire::EndsMessage(packet.opcode);
  const bool immediate = wire::HasImmediate(packet.opcode);
  // The receive first: what has no receive leaves no trace.
  if (immediate && !TakeReceive(qp, r)) return false;
  if (wire::StartsMessage(packet.opcode)) {
    uint64_t address = 0;
    if (packet.dma_length > config_.limits.message_bytes) {
      Refuse(qp, r, {aeth::kInvalidRequest, abi::Syndrome::kLocalQpOperation});
      return false;
    }
    if (!MayTouch(qp, packet, packet.dma_length, kMayWriteRemotely, &address)) {
      Refuse(qp, r, {aeth::kRemoteAccess, abi::Syndrome::kLocalAccess});
      return false;
    }
    r.message = MessageKind::kWrite;
    r.key = packet.remote_key;
    r.address = packet.remote_address;
    r.remaining = packet.dma_length;
    r.received = 0;
  }
  const uint32_t bytes = static_cast<uint32_t>(packet.payload.size());
  const bool fits = ends ? bytes == r.remaining : bytes < r.remaining;
  if (r.message != MessageKind::kWrite || !fits) {
    Refuse(qp, r, {aeth::kInvalidRequest, abi::Syndrome::kLocalQpOperation});
    return false;
  }
  if (!PlaceWrite(qp, r, packet)) {
    Refuse(qp, r, {aeth::kRemoteAccess, abi::Syndrome::kLocalAccess});
    return false;
  }
  r.address += bytes;
  r.remaining -= bytes;
  r.received += bytes;
  r.expected = PsnAfter(r.expected, 1);
  if (ends && immediate) FinishMessage(qp, r, packet, from);
  return true;
}

bool Rnic::PlaceWrite(QpContext& qp, Responder& r, const wire::Packet& packet) {
  const uint32_t bytes = static_cast<uint32_t>(packet.payload.size());
  if (bytes == 0) return true;
  // Each packet asks again: the key may have gone in the middle of a message.
  uint64_t address = 0;
  if (!protection_.Translate(r.key, qp.pd, r.address, bytes, kMayWriteRemotely, &address)) {
    return false;
  }
  if (r.rd != nullptr) SaveBeforeWrite(qp, r, address, bytes);
  return dma_.Write(qp.qpn, address, packet.payload.data(), bytes);
}

// UD: one packet, nobody is told what becomes of it. The first 40 bytes of a receive are the GRH's,
// whether one came or not.
void Rnic::ReceiveDatagram(QpContext& qp, const wire::Packet& packet, const Address& from) {
  if (packet.qkey != qp.attributes.qkey) {
    ++counters_.qkey_violations;
    return;
  }
  Responder& r = qp.responder;
  if (!TakeReceive(qp, r)) return;
  uint8_t route[kGlobalRouteBytes] = {};
  const uint32_t bytes = static_cast<uint32_t>(packet.payload.size());
  if (from.global) {
    constexpr uint8_t kVersion6 = 0x60, kNextHeaderIba = 0x1b;
    route[0] = static_cast<uint8_t>(kVersion6 | from.traffic_class >> 4);
    route[1] = static_cast<uint8_t>(from.traffic_class << 4 | (from.flow_label >> 16 & 0xf));
    route[2] = static_cast<uint8_t>(from.flow_label >> 8);
    route[3] = static_cast<uint8_t>(from.flow_label);
    route[6] = kNextHeaderIba;
    route[7] = from.hop_limit;
    std::memcpy(route + 8, from.gid.data(), from.gid.size());
  }
  const ReceiveQueue& queue = *qp.receives;
  Scatter result = queue.Holds(dma_, qp.qpn, r.receive, kGlobalRouteBytes + uint64_t{bytes});
  if (result == Scatter::kOk) {
    result = queue.Place(dma_, qp.qpn, protection_, qp.pd, r.receive, 0, route, sizeof(route));
  }
  if (result == Scatter::kOk) {
    result = queue.Place(dma_, qp.qpn, protection_, qp.pd, r.receive, kGlobalRouteBytes,
                         packet.payload.data(), bytes);
  }
  if (result != Scatter::kOk) {
    r.receive.taken = false;
    WriteReceiveError(
        qp, r.receive.index,
        result == Scatter::kTooLong ? abi::Syndrome::kLocalLength : abi::Syndrome::kLocalProtection,
        0);
    EnterError(qp);
    return;
  }
  ++qp.executed;
  counters_.payload_bytes_received += bytes;
  r.received = bytes + kGlobalRouteBytes;
  FinishMessage(qp, r, packet, from);
}

}  // namespace ringpost::sim
