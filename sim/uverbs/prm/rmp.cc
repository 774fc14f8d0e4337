// Receive memory pools: receive queues that QPs and DCTs share.
#include "sim/uverbs/prm/commands.h"

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint32_t kSmallestLogStride = 4;

Refusal CheckContext(State& state, const uint8_t* context) {
  if (Get(context, rmpc::kType) != 0 || Get(context, rmpc::kBasicCyclic) != 0 ||
      Get(context, rmpc::kSignature) != 0) {
    return Refusal::kRmpType;
  }
  if (Get(context, rmpc::kState) != rmpc::kReady) return Refusal::kRmpState;
  const uint32_t stride = Get(context, rmpc::kLogStride);
  const bool fits =
      (uint64_t{1} << Get(context, rmpc::kLogSize)) <= state.Limits().srq_depth_wqes &&
      stride >= kSmallestLogStride && (1u << stride) <= state.Limits().receive_wqe_bytes;
  return fits ? Refusal::kNone : Refusal::kRqSize;
}

Refusal FindRmp(State& state, const Call& call, Rmp** rmp) {
  return Find(state.rmps, call.in[kNumber], call.uid, Refusal::kNoRmp, rmp);
}

}  // namespace

Refusal CreateRmp(State& state, Call& call) {
  Rmp rmp;
  rmp.uid = call.uid;
  call.in.Copy(rmpc::kAt, rmp.context);
  const uint8_t* context = rmp.context.data();
  Refusal refusal = CheckContext(state, context);
  if (refusal != Refusal::kNone) return refusal;
  ReceiveQueueConfig config;
  config.wqes = 1u << Get(context, rmpc::kLogSize);
  config.stride = 1u << Get(context, rmpc::kLogStride);
  config.linked = true;
  RingPlace ring{Get(context, rmpc::kUmemValid) != 0, Get(context, rmpc::kUmem),
                 Get(context, rmpc::kUmemOffset), uint64_t{config.wqes} * config.stride};
  ring.offset += uint64_t{Get(context, rmpc::kPageOffset)} * qpc::kPageOffsetUnit;
  const RecordPlace record{Get(context, rmpc::kDbrUmemValid) != 0, Get(context, rmpc::kDbrUmem),
                           Get(context, rmpc::kDbr)};
  const uint32_t pd = Get(context, rmpc::kPd);
  refusal = CheckPd(state, pd, call.uid);
  if (refusal == Refusal::kNone) refusal = PlaceRing(state, ring, call.uid, &config.ring);
  if (refusal == Refusal::kNone) refusal = PlaceRecord(state, record, call.uid, &config.record);
  if (refusal != Refusal::kNone) return refusal;
  const Created created = state.Function().CreateSrq(pd, config);
  if (!created.Ok()) return Refusal::kTooManyRmps;
  state.Function().ArmSrqLimit(created.number, Get(context, rmpc::kLimit));
  rmp.uses = UsesOf(ring, record, 0);
  Take(state, rmp.uses);
  state.rmps[created.number] = rmp;
  call.out.Put(kNumber, created.number);
  return Refusal::kNone;
}

Refusal QueryRmp(State& state, Call& call) {
  Rmp* rmp = nullptr;
  const Refusal refusal = FindRmp(state, call, &rmp);
  if (refusal != Refusal::kNone) return refusal;
  const Srq& now = *state.Function().FindSrq(call.in[kNumber]);
  call.out.Copy(rmpc::kAt, rmp->context);
  const auto put = [&](Field field, uint32_t value) { call.out.Put(In(rmpc::kAt, field), value); };
  put(rmpc::kLimit, now.limit);
  put(rmpc::kHwCounter, now.queue.Taken());
  put(rmpc::kSwCounter, (now.queue.Taken() + now.queue.Available()) & 0xffff);
  return Refusal::kNone;
}

// Arms the limit; that is all that can change.
Refusal ModifyRmp(State& state, Call& call) {
  Rmp* rmp = nullptr;
  const Refusal refusal = FindRmp(state, call, &rmp);
  if (refusal != Refusal::kNone) return refusal;
  if (call.in[rmpc::kModifyState] != rmpc::kReady ||
      call.in[In(rmpc::kAt, rmpc::kState)] != rmpc::kReady) {
    return Refusal::kRmpState;
  }
  if (call.in[rmpc::kSelectLimit] != 0) {
    state.Function().ArmSrqLimit(call.in[kNumber], call.in[In(rmpc::kAt, rmpc::kLimit)]);
  }
  return Refusal::kNone;
}

Refusal DestroyRmp(State& state, Call& call) {
  Rmp* rmp = nullptr;
  const Refusal refusal = FindRmp(state, call, &rmp);
  if (refusal != Refusal::kNone) return refusal;
  const uint32_t rmpn = call.in[kNumber];
  if (!state.Function().DestroySrq(rmpn).empty()) return Refusal::kRmpInUse;
  Leave(state, rmp->uses);
  state.rmps.erase(rmpn);
  return Refusal::kNone;
}

}  // namespace ringpost::sim::uverbs::prm
