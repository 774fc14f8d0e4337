// DC targets: active from the start, and drained before they go.
#include "sim/uverbs/prm/commands.h"
#include "sim/uverbs/prm/qp_attributes.h"

namespace ringpost::sim::uverbs::prm {
namespace {

QpAttributes AttributesOf(const State& state, const uint8_t* context) {
  QpAttributes attributes;
  attributes.path_mtu = MtuBytes(Get(context, dctc::kMtu));
  attributes.port = static_cast<uint8_t>(Get(context, dctc::kPort));
  attributes.pkey_index = static_cast<uint16_t>(Get(context, dctc::kPkeyIndex));
  attributes.min_rnr_timer = static_cast<uint8_t>(Get(context, dctc::kMinRnrNak));
  const auto right = [&](Field field, uint8_t bit) {
    if (Get(context, field) != 0) attributes.access |= bit;
  };
  right(dctc::kRemoteRead, kMayReadRemotely);
  right(dctc::kRemoteWrite, kMayWriteRemotely);
  right(dctc::kRemoteAtomic, kMayUseAtomics);
  Address& path = attributes.address;
  path.global = state.config.link == wire::Link::kEthernet;
  path.traffic_class = static_cast<uint8_t>(Get(context, dctc::kTrafficClass));
  path.flow_label = Get(context, dctc::kFlowLabel);
  path.gid_index = static_cast<uint8_t>(Get(context, dctc::kGidIndex));
  path.hop_limit = static_cast<uint8_t>(Get(context, dctc::kHopLimit));
  return attributes;
}

Refusal Check(State& state, const QpAttributes& wanted) {
  if (wanted.path_mtu == 0 || wanted.path_mtu > state.Function().Config().mtu) return Refusal::kMtu;
  if (wanted.port > 1) return Refusal::kPort;
  const bool known = !wanted.address.global || wanted.address.gid_index < state.config.gids.size();
  return known ? Refusal::kNone : Refusal::kGidIndex;
}

// To RTR, where a target stays. False if the NIC refused.
bool Activate(State& state, uint32_t qpn, QpAttributes attributes) {
  attributes.state = sim::State::kInit;
  const uint32_t init = kAttrState | kAttrPkeyIndex | kAttrPort | kAttrAccess;
  if (!state.nic.ModifyQp(qpn, attributes, init).empty()) return false;
  attributes.state = sim::State::kReadyToReceive;
  const uint32_t ready = kAttrState | kAttrMinRnrTimer | kAttrAddress | kAttrPathMtu;
  return state.nic.ModifyQp(qpn, attributes, ready).empty();
}

Refusal FindDct(State& state, const Call& call, Dct** dct) {
  return Find(state.dcts, call.in[kNumber], call.uid, Refusal::kNoDct, dct);
}

}  // namespace

Refusal CreateDct(State& state, Call& call) {
  Dct dct;
  dct.uid = call.uid;
  call.in.Copy(dctc::kAt, dct.context);
  const uint8_t* context = dct.context.data();
  RnicQpConfig config;
  config.type = QpType::kDct;
  config.pd = Get(context, dctc::kPd);
  config.send_cq = config.receive_cq = Get(context, dctc::kCq);
  config.srq = Get(context, dctc::kSrq);
  config.user_index = Get(context, dctc::kUserIndex);
  config.dc_key = Get(context, dctc::kDcKey);
  const QpAttributes attributes = AttributesOf(state, context);
  Refusal refusal = CheckPd(state, config.pd, call.uid);
  if (refusal == Refusal::kNone) refusal = CheckCq(state, config.receive_cq, call.uid);
  if (refusal == Refusal::kNone) refusal = CheckRmp(state, config.srq, call.uid);
  if (refusal == Refusal::kNone) refusal = Check(state, attributes);
  if (refusal != Refusal::kNone) return refusal;
  // A target rings nothing.
  const Created created = state.nic.CreateQp(config, 0);
  if (!created.Ok()) return Refusal::kTooManyQps;
  if (!Activate(state, created.number, attributes)) {
    state.nic.DestroyQp(created.number);
    return Refusal::kQpAttributes;
  }
  state.dcts[created.number] = dct;
  call.out.Put(kNumber, created.number);
  return Refusal::kNone;
}

Refusal QueryDct(State& state, Call& call) {
  Dct* dct = nullptr;
  const Refusal refusal = FindDct(state, call, &dct);
  if (refusal != Refusal::kNone) return refusal;
  call.out.Copy(kContextAt, dct->context);
  call.out.Put(In(kContextAt, dctc::kState), dct->drained ? dctc::kDrained : dctc::kActive);
  return Refusal::kNone;
}

Refusal DrainDct(State& state, Call& call) {
  Dct* dct = nullptr;
  const Refusal refusal = FindDct(state, call, &dct);
  if (refusal != Refusal::kNone) return refusal;
  if (dct->drained) return Refusal::kDctDrained;
  QpAttributes attributes;
  attributes.state = sim::State::kError;
  state.nic.ModifyQp(call.in[kNumber], attributes, kAttrState);
  dct->drained = true;
  return Refusal::kNone;
}

Refusal DestroyDct(State& state, Call& call) {
  Dct* dct = nullptr;
  const Refusal refusal = FindDct(state, call, &dct);
  if (refusal != Refusal::kNone) return refusal;
  if (!dct->drained) return Refusal::kDctActive;
  const uint32_t dctn = call.in[kNumber];
  state.nic.DestroyQp(dctn);
  state.dcts.erase(dctn);
  return Refusal::kNone;
}

}  // namespace ringpost::sim::uverbs::prm
