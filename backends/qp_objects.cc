#include "backends/qp_objects.h"

#include <fmt/format.h>

#include "sim/nic/bring_up.h"
#include "transport/abi/wqe.h"

namespace ringpost {
namespace {

std::string MakeDc(const ObjectMaker& make, sim::RnicQpConfig config, const ReceiveView& receive,
                   QpObjects& objects) {
  config.type = sim::QpType::kDci;
  const sim::Created dci = make.qp(config);
  if (!dci.Ok()) return dci.refusal;
  objects.qp = dci.number;
  const sim::Created srq = make.srq(config.pd, {receive.ring, receive.record, receive.depth,
                                                ReceiveStride(TransportKind::kDc), true});
  if (!srq.Ok()) return srq.refusal;
  objects.srq = srq.number;
  sim::RnicQpConfig target;
  target.type = sim::QpType::kDct;
  target.pd = config.pd;
  target.send_cq = config.send_cq;
  target.receive_cq = config.receive_cq;
  target.srq = srq.number;
  target.dc_key = abi::kDcAccessKey;
  const sim::Created dct = make.qp(target);
  objects.dct = dct.number;
  return dct.refusal;
}

}  // namespace

std::string MakeObjects(const ObjectMaker& make, uint32_t pd, QpViews& views, QpObjects& objects) {
  const ReceiveView& receive = views.receive;
  const sim::Created send_cq = make.cq({views.send.cq, 1, 0, true, true});
  if (!send_cq.Ok()) return send_cq.refusal;
  objects.send_cq = send_cq.number;
  sim::RnicQpConfig config;
  config.pd = pd;
  config.send_cq = config.receive_cq = send_cq.number;
  config.sq = views.send.sq;
  config.sq_wqebbs = views.send.depth;
  config.record = views.send.record;
  config.max_inline = views.send.max_inline;
  if (receive.depth != 0) {
    // A receive is posted again only after its entry was read, so the CQ never overruns.
    const sim::Created receive_cq = make.cq({receive.cq, receive.depth, 0, false, true});
    if (!receive_cq.Ok()) return receive_cq.refusal;
    config.receive_cq = objects.receive_cq = receive_cq.number;
  }
  if (views.send.kind == TransportKind::kDc) {
    const std::string refusal = MakeDc(make, config, receive, objects);
    views.send.qpn = objects.qp;
    return refusal;
  }
  config.rq = {receive.ring, 0, receive.depth, ReceiveStride(TransportKind::kRc), false};
  const sim::Created qp = make.qp(config);
  views.send.qpn = objects.qp = qp.number;
  return qp.refusal;
}

std::string ConnectObjects(const QpObjects& objects, sim::State state, const sim::Address& to,
                           const QpAddress& peer, const sim::RnicConfig& nic,
                           const Modify& modify) {
  const sim::QpAttributes attributes = sim::UsualAttributes(to, peer.qpn, nic);
  const auto bring_up = [&](uint32_t qpn, sim::QpType type) {
    return sim::BringUp(
        attributes,
        [&](const sim::QpAttributes& wanted, uint32_t mask) { return modify(qpn, wanted, mask); },
        type);
  };
  if (objects.dct == 0) return bring_up(objects.qp, sim::QpType::kRc);
  if (peer.dct == 0) return fmt::format("QP {:#x} of the peer has no DCT to connect to", peer.qpn);
  if (state == sim::State::kReadyToSend) return {};
  const std::string refusal = bring_up(objects.qp, sim::QpType::kDci);
  return refusal.empty() ? bring_up(objects.dct, sim::QpType::kDct) : refusal;
}

}  // namespace ringpost
