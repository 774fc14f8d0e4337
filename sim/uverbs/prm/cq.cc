// Completion queues.
#include "sim/uverbs/prm/commands.h"

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint32_t kCqeBytes = 64;
constexpr uint32_t kPageOffsetUnit = 64;

bool HasEq(const State& state, uint32_t eqn) {
  return eqn - kFirstEqn < state.config.completion_vectors;
}

Refusal CheckContext(State& state, const uint8_t* context) {
  if (Get(context, cqc::kCqeSize) > 1) return Refusal::kCqeSize;
  if (Get(context, cqc::kCompression) != 0) return Refusal::kCqCompression;
  if ((uint64_t{1} << Get(context, cqc::kLogSize)) > state.Limits().cq_entries) {
    return Refusal::kCqSize;
  }
  return HasEq(state, Get(context, cqc::kEqn)) ? Refusal::kNone : Refusal::kNoEq;
}

uint32_t StateOf(const CompletionQueue& cq) {
  switch (cq.arm) {
    case Arm::kAny:
      return cqc::kStateArmed;
    case Arm::kSolicited:
      return cqc::kStateArmedSolicited;
    default:
      return cqc::kStateFired;
  }
}

}  // namespace

Refusal CreateCq(State& state, Call& call) {
  Cq cq;
  cq.uid = call.uid;
  call.in.Copy(cqc::kAt, cq.context);
  const uint8_t* context = cq.context.data();
  Refusal refusal = CheckContext(state, context);
  CqConfig config;
  config.entries = 1u << Get(context, cqc::kLogSize);
  config.entry_bytes = kCqeBytes << Get(context, cqc::kCqeSize);
  config.collapsed = Get(context, cqc::kCollapsed) != 0;
  config.overrun_ignore = Get(context, cqc::kOverrunIgnore) != 0;
  RingPlace ring{call.in[cqc::kUmemValid] != 0, call.in[cqc::kUmem], call.in[cqc::kUmemOffset],
                 uint64_t{config.collapsed ? 1 : config.entries} * config.entry_bytes, true};
  ring.offset += uint64_t{Get(context, cqc::kPageOffset)} * kPageOffsetUnit;
  const RecordPlace record{Get(context, cqc::kDbrUmemValid) != 0, Get(context, cqc::kDbrUmem),
                           Get(context, cqc::kDbr)};
  const uint32_t uar = Get(context, cqc::kUar);
  uint64_t page = 0;
  if (refusal == Refusal::kNone) refusal = CheckUar(state, uar, call.uid, &page);
  if (refusal == Refusal::kNone) refusal = PlaceRing(state, ring, call.uid, &config.ring);
  if (refusal == Refusal::kNone) refusal = PlaceRecord(state, record, call.uid, &config.record);
  if (refusal != Refusal::kNone) return refusal;
  const Created created = state.nic.CreateCq(config, page);
  if (!created.Ok()) return Refusal::kTooManyCqs;
  cq.uses = UsesOf(ring, record, uar);
  Take(state, cq.uses);
  state.cqs[created.number] = cq;
  call.out.Put(kNumber, created.number);
  return Refusal::kNone;
}

Refusal QueryCq(State& state, Call& call) {
  const uint32_t cqn = call.in[kNumber];
  Cq* cq = nullptr;
  const Refusal refusal = Find(state.cqs, cqn, call.uid, Refusal::kNoCq, &cq);
  if (refusal != Refusal::kNone) return refusal;
  const CompletionQueue& now = *state.Function().FindCq(cqn);
  call.out.Copy(kContextAt, cq->context);
  const auto put = [&](Field field, uint32_t value) { call.out.Put(In(kContextAt, field), value); };
  put(cqc::kCqStatus, now.failed ? cqc::kStatusOverrun : 0);
  put(cqc::kOverrunIgnore, now.config.overrun_ignore ? 1 : 0);
  put(cqc::kState, StateOf(now));
  put(cqc::kLastSolicited, now.last_solicited);
  put(cqc::kConsumer, now.consumer);
  put(cqc::kProducer, now.producer);
  return Refusal::kNone;
}

// Moderation is kept and handed back; this NIC holds no event back, which it leaves open.
Refusal ModifyCq(State& state, Call& call) {
  constexpr struct {
    uint32_t select;
    Field field;
  } kSelectable[] = {{cqc::kSelectPeriod, cqc::kPeriod},
                     {cqc::kSelectCount, cqc::kMaxCount},
                     {cqc::kSelectOverrun, cqc::kOverrunIgnore},
                     {cqc::kSelectEqn, cqc::kEqn},
                     {cqc::kSelectPeriodMode, cqc::kPeriodMode}};
  const uint32_t cqn = call.in[kNumber];
  Cq* cq = nullptr;
  const Refusal refusal = Find(state.cqs, cqn, call.uid, Refusal::kNoCq, &cq);
  if (refusal != Refusal::kNone) return refusal;
  if (call.in[kOpMod] == cqc::kOpModResize) return Refusal::kCqResize;
  if (call.in[kOpMod] != 0) return Refusal::kUnknownOpMod;
  uint32_t left = call.in[cqc::kSelect];
  if ((left & cqc::kSelectEqn) != 0 && !HasEq(state, call.in[In(cqc::kAt, cqc::kEqn)])) {
    return Refusal::kNoEq;
  }
  for (const auto& row : kSelectable) left &= ~row.select;
  if (left != 0) return Refusal::kCqSelect;
  for (const auto& [select, field] : kSelectable) {
    if ((call.in[cqc::kSelect] & select) == 0) continue;
    Set(cq->context.data(), field, call.in[In(cqc::kAt, field)]);
  }
  state.Function().FindCq(cqn)->config.overrun_ignore =
      Get(cq->context.data(), cqc::kOverrunIgnore) != 0;
  return Refusal::kNone;
}

Refusal DestroyCq(State& state, Call& call) {
  const uint32_t cqn = call.in[kNumber];
  Cq* cq = nullptr;
  const Refusal refusal = Find(state.cqs, cqn, call.uid, Refusal::kNoCq, &cq);
  if (refusal != Refusal::kNone) return refusal;
  if (!state.nic.DestroyCq(cqn).empty()) return Refusal::kCqInUse;
  Leave(state, cq->uses);
  state.cqs.erase(cqn);
  return Refusal::kNone;
}

}  // namespace ringpost::sim::uverbs::prm
