// The responder: checks a request against the target's keys and executes it.
#include "sim/nic/nic.h"

namespace ringpost::sim {

void Nic::Respond(Work& work) {
  QueuePair* qp = FindQp(work.peer_qpn);
  // A QP in error drops silently; the requester finds out by itself.
  if (qp == nullptr || qp->state != QpState::kReady) {
    work.status = WorkStatus::kDropped;
    return;
  }
  counters_.packets_received += work.IsRead() ? 1 : work.packets;
  qp->expected_psn = (work.psn + work.packets) & 0xffffff;
  if (work.opcode == abi::Opcode::kNop || work.bytes == 0) return;
  const uint8_t rights = work.IsRead() ? kRemoteRead : kRemoteWrite;
  bool placed = keys_.Allows(work.remote_key, work.remote_address, work.bytes, rights);
  if (placed && work.IsRead()) {
    work.payload.resize(work.bytes);
    placed = dma_.Read(qp->qpn, work.remote_address, work.payload.data(), work.bytes);
    if (placed) {
      dma_.Consume(qp->qpn, Purpose::kPayload, work.index, work.remote_address, work.bytes);
    }
  } else if (placed) {
    placed = dma_.Write(qp->qpn, work.remote_address, work.payload.data(), work.bytes);
  }
  if (placed) return;
  SetRemoteError(work, abi::Syndrome::kRemoteAccess, 0x88);
  qp->state = QpState::kError;
  ++counters_.naks_sent;
}

void Nic::PlaceResponse(Work& work) {
  counters_.packets_received += work.packets;
  if (!dma_.Write(work.qpn, work.local_address, work.payload.data(), work.bytes)) {
    SetLocalError(work, abi::Syndrome::kLocalProtection, 0x51);
  }
}

}  // namespace ringpost::sim
