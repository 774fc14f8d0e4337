#include "sim/nic/dc.h"

#include "sim/nic/rnic.h"
#include "sim/nic/syndromes.h"

namespace ringpost::sim {

// The stream to a target; made when it is first named.
uint32_t Rnic::StreamOf(QpContext& qp, const SendTarget& target) {
  const auto matches = [&](const DcStream& stream) {
    return stream.qpn == target.qpn && stream.address.SamePort(target.address);
  };
  if (qp.last_stream < qp.streams.size() && matches(qp.streams[qp.last_stream])) {
    return qp.last_stream;
  }
  qp.last_stream = qp.stream_index.Find(
      PeerHash(target.qpn, target.address),
      [&](uint32_t number) { return matches(qp.streams[number]); },
      [&](uint32_t number) {
        return PeerHash(qp.streams[number].qpn, qp.streams[number].address);
      });
  if (qp.last_stream == qp.streams.size()) {
    const uint32_t first = dc::FirstPsnOf(qp.last_stream);
    qp.streams.push_back({target.address, target.qpn, first, first});
  }
  return qp.last_stream;
}

// Whoever answers this request: the QP itself, or what a DCT keeps for this DCI. Null: nobody.
Responder* Rnic::ResponderOf(QpContext& qp, const wire::Packet& packet, const Address& from) {
  if (qp.type != QpType::kDct) return &qp.responder;
  const uint32_t number = qp.source_index.Find(
      PeerHash(packet.source_qpn, from),
      [&](uint32_t i) {
        return qp.sources[i]->qpn == packet.source_qpn && qp.sources[i]->address.SamePort(from);
      },
      [&](uint32_t i) { return PeerHash(qp.sources[i]->qpn, qp.sources[i]->address); });
  const bool is_new = number == qp.sources.size();
  if (is_new) qp.sources.push_back(std::make_unique<DcSource>());
  DcSource& source = *qp.sources[number];
  if (is_new || dc::IsNewIncarnation(source.responder.expected, packet.psn)) {
    const ReceiveWqe kept = source.responder.receive;
    source.address = from;
    source.qpn = packet.source_qpn;
    source.responder = Responder();
    source.responder.receive = kept;
    source.responder.expected = dc::FirstOf(packet.psn);
    ++counters_.dc_connects;
  }
  qp.source = number;
  return &source.responder;
}

}  // namespace ringpost::sim
