// Queue pairs: making, destroying and reading back. qp_transitions.cc has their states.
#include <algorithm>

#include "sim/uverbs/prm/commands.h"
#include "sim/uverbs/prm/qp_attributes.h"

namespace ringpost::sim::uverbs::prm {
namespace {

bool TypeOf(uint32_t service, QpType* type) {
  constexpr struct {
    uint32_t service;
    QpType type;
  } kTypes[] = {{qpc::kRc, QpType::kRc},
                {qpc::kUc, QpType::kUc},
                {qpc::kUd, QpType::kUd},
                {qpc::kDci, QpType::kDci}};
  for (const auto& row : kTypes) {
    if (row.service != service) continue;
    *type = row.type;
    return true;
  }
  return false;
}

// The receive side. A DCI has none, whatever the context says of one.
Refusal ReadReceives(State& state, uint16_t uid, const uint8_t* context, RnicQpConfig* config) {
  const uint32_t srq = Get(context, qpc::kSrq);
  const bool receives = config->type != QpType::kDci;
  switch (Get(context, qpc::kRqType)) {
    case qpc::kNoRq:
      return Refusal::kNone;
    case qpc::kSharedRq:
      if (receives) config->srq = srq;
      return CheckRmp(state, srq, uid);
    case qpc::kOwnRq:
      break;
    default:
      return Refusal::kRqType;
  }
  if (!receives) return Refusal::kNone;
  config->rq.wqes = 1u << Get(context, qpc::kLogRqSize);
  config->rq.stride = qpc::kStrideUnit << Get(context, qpc::kLogRqStride);
  const NicLimits& limits = state.Limits();
  const bool fits =
      config->rq.wqes <= limits.rq_depth_wqes && config->rq.stride <= limits.receive_wqe_bytes;
  return fits ? Refusal::kNone : Refusal::kRqSize;
}

Refusal ReadCqs(State& state, uint16_t uid, const uint8_t* context, RnicQpConfig* config) {
  config->send_cq = Get(context, qpc::kSendCq);
  config->receive_cq = Get(context, qpc::kReceiveCq);
  // A queue that is not there needs no CQ, and lives with the other's.
  const bool receives = config->rq.wqes != 0 || config->srq != 0;
  if (config->sq_wqebbs == 0 && config->send_cq == 0) config->send_cq = config->receive_cq;
  if (!receives && config->receive_cq == 0) config->receive_cq = config->send_cq;
  const Refusal refusal = CheckCq(state, config->send_cq, uid);
  return refusal == Refusal::kNone ? CheckCq(state, config->receive_cq, uid) : refusal;
}

// What a context says of the queues.
Refusal ReadContext(State& state, uint16_t uid, const uint8_t* context, RnicQpConfig* config) {
  if (!TypeOf(Get(context, qpc::kServiceType), &config->type)) return Refusal::kServiceType;
  if (Get(context, qpc::kSendDbrMode) != 0) return Refusal::kSendDbrMode;
  if (Get(context, qpc::kWqSignature) != 0) return Refusal::kWqSignature;
  const NicLimits& limits = state.Limits();
  if (Get(context, qpc::kNoSq) == 0) config->sq_wqebbs = 1u << Get(context, qpc::kLogSqSize);
  if (config->sq_wqebbs > limits.sq_depth_wqebbs) return Refusal::kSqSize;
  config->pd = Get(context, qpc::kPd);
  config->waits = Get(context, qpc::kCdMaster) != 0;
  config->user_index = Get(context, qpc::kUserIndex);
  config->max_sges = limits.sges;
  config->max_inline = limits.inline_bytes;
  Refusal refusal = ReadReceives(state, uid, context, config);
  if (refusal == Refusal::kNone) refusal = CheckPd(state, config->pd, uid);
  return refusal == Refusal::kNone ? ReadCqs(state, uid, context, config) : refusal;
}

// The receive ring comes first; the send ring begins at the next block.
uint64_t ReceiveRingBytes(const RnicQpConfig& config) {
  const uint64_t bytes = uint64_t{config.rq.wqes} * config.rq.stride;
  return (bytes + abi::kWqebbBytes - 1) / abi::kWqebbBytes * abi::kWqebbBytes;
}

}  // namespace

Refusal CreateQp(State& state, Call& call) {
  Qp qp;
  qp.uid = call.uid;
  call.in.Copy(qpc::kAt, qp.context);
  const uint8_t* context = qp.context.data();
  RnicQpConfig config;
  Refusal refusal = ReadContext(state, call.uid, context, &config);
  if (refusal != Refusal::kNone) return refusal;
  const uint32_t uar = Get(context, qpc::kUar);
  uint64_t page = 0;
  refusal = CheckUar(state, uar, call.uid, &page);
  const uint64_t receives = ReceiveRingBytes(config);
  RingPlace ring{call.in[qpc::kUmemValid] != 0, call.in[qpc::kUmem], call.in[qpc::kUmemOffset],
                 receives + uint64_t{config.sq_wqebbs} * abi::kWqebbBytes};
  ring.offset += uint64_t{Get(context, qpc::kPageOffset)} * qpc::kPageOffsetUnit;
  RecordPlace record{Get(context, qpc::kDbrUmemValid) != 0, Get(context, qpc::kDbrUmem),
                     Get(context, qpc::kDbr)};
  uint64_t at = 0;
  // Without a queue there is nothing to place, nor to count.
  if (ring.bytes == 0) record = {};
  if (refusal == Refusal::kNone && ring.bytes != 0) {
    refusal = PlaceRing(state, ring, call.uid, &at);
    if (refusal == Refusal::kNone) refusal = PlaceRecord(state, record, call.uid, &config.record);
  }
  if (refusal != Refusal::kNone) return refusal;
  config.rq.ring = at;
  config.sq = at + receives;
  const Created created = state.nic.CreateQp(config, page);
  if (!created.Ok()) return Refusal::kTooManyQps;
  qp.uses = UsesOf(ring, record, uar);
  qp.created = qp.context;
  Take(state, qp.uses);
  state.qps[created.number] = qp;
  call.out.Put(kNumber, created.number);
  return Refusal::kNone;
}

Refusal QueryQp(State& state, Call& call) {
  const uint32_t qpn = call.in[kNumber];
  Qp* qp = nullptr;
  const Refusal refusal = Find(state.qps, qpn, call.uid, Refusal::kNoQp, &qp);
  if (refusal != Refusal::kNone) return refusal;
  const QpContext& now = *state.Function().FindQp(qpn);
  std::array<uint8_t, qpc::kBytes> context = qp->context;
  WriteAttributes(state.Function().QueryQp(now), state.config.link, context.data());
  const auto set = [&](Field field, uint64_t value) {
    Set(context.data(), field, static_cast<uint32_t>(value));
  };
  const Requester& requester = now.requester;
  // Up to the oldest WQE that is not complete.
  const uint64_t behind =
      requester.head == requester.tail
          ? 0
          : static_cast<uint16_t>(requester.fetched - requester.window.At(requester.head).index);
  set(qpc::kHwSqCounter, requester.fetched - behind);
  set(qpc::kSwSqCounter, requester.producer);
  set(qpc::kLastAckedPsn, requester.unanswered - 1);
  set(qpc::kMsn, now.responder.msn);
  set(qpc::kCurrentRetryCount,
      now.attributes.retry_count - std::min(now.attributes.retry_count, requester.timeouts));
  set(qpc::kCurrentRnrRetry,
      now.attributes.rnr_retry - std::min(now.attributes.rnr_retry, requester.rnr_naks));
  set(qpc::kHwRqCounter, now.rq.Taken());
  set(qpc::kSwRqCounter, (now.rq.Taken() + now.rq.Available()) & 0xffff);
  call.out.Copy(qpc::kAt, context);
  return Refusal::kNone;
}

Refusal DestroyQp(State& state, Call& call) {
  const uint32_t qpn = call.in[kNumber];
  Qp* qp = nullptr;
  const Refusal refusal = Find(state.qps, qpn, call.uid, Refusal::kNoQp, &qp);
  if (refusal != Refusal::kNone) return refusal;
  state.nic.DestroyQp(qpn);
  Leave(state, qp->uses);
  state.qps.erase(qpn);
  return Refusal::kNone;
}

}  // namespace ringpost::sim::uverbs::prm
