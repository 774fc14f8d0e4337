#include "backends/qp_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/nic/bring_up.h"
#include "transport/abi/wqe.h"

namespace ringpost {
namespace {

// Two segments where a link to the next WQE stands before the list.
uint32_t Stride(bool linked) { return abi::kSegmentBytes * (linked ? 2 : 1); }

std::string MakeDc(const ObjectMaker& make, sim::RnicQpConfig config, const ReceiveView& receive,
                   QpObjects& objects) {
  config.type = sim::QpType::kDci;
  const sim::Created dci = make.qp(config);
  if (!dci.Ok()) return dci.refusal;
  objects.qp = dci.number;
  const sim::Created srq =
      make.srq(config.pd, {receive.ring, receive.record, receive.depth, Stride(true), true});
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

std::string RefusalOf(const QpSpec& spec, const DoorbellCaps& caps) {
  if (spec.doorbell == DoorbellMode::kBlueFlame && !caps.blueflame) {
    return "doorbell blueflame is for threads of a CPU, and these are a GPU's; use gpu or cpu";
  }
  if (spec.doorbell == DoorbellMode::kRecordFree && !caps.record_free) {
    return "doorbell record_free needs a register that loses no doorbell, and this one is a page "
           "of memory; use gpu or cpu";
  }
  const uint32_t depth = spec.depth_wqebbs;
  if (!std::has_single_bit(depth) || depth < 8 || depth > abi::kMaxDepthWqebbs) {
    return fmt::format("a send queue of {} WQEBBs is impossible; give a power of two from 8 to {}",
                       depth, abi::kMaxDepthWqebbs);
  }
  if (spec.receive_depth != 0 &&
      (!std::has_single_bit(spec.receive_depth) || spec.receive_depth > abi::kMaxDepthWqebbs)) {
    return fmt::format("a receive queue of {} is impossible; give 0 or a power of two up to {}",
                       spec.receive_depth, abi::kMaxDepthWqebbs);
  }
  return {};
}

uint32_t ReceiveDepth(const QpSpec& spec) {
  return spec.kind == TransportKind::kDc ? std::max(1u, spec.receive_depth) : spec.receive_depth;
}

uint64_t ReceiveRingBytes(const QpSpec& spec) {
  return uint64_t{ReceiveDepth(spec)} * Stride(spec.kind == TransportKind::kDc);
}

QpViews ViewsOf(const QpSpec& spec, const sim::NicLimits& limits) {
  QpViews views;
  QpView& view = views.send;
  view.depth = spec.depth_wqebbs;
  view.batch = std::max(1u, spec.batch);
  view.max_inline = spec.max_inline;
  view.max_message = limits.message_bytes;
  if (spec.max_message != 0) {
    view.max_message =
        static_cast<uint32_t>(std::min<uint64_t>(spec.max_message, limits.message_bytes));
  }
  view.shared = spec.shared ? 1 : 0;
  view.placement = spec.placement;
  view.timeout_ps = spec.timeout_ps;
  view.kind = spec.kind;
  view.doorbell_mode = spec.doorbell;
  views.receive.depth = ReceiveDepth(spec);
  views.receive.linked = spec.kind == TransportKind::kDc ? 1 : 0;
  return views;
}

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
  config.rq = {receive.ring, 0, receive.depth, Stride(false), false};
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
