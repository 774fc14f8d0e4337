// What brings a QP from one state to another.
#include <algorithm>

#include "sim/uverbs/prm/commands.h"
#include "sim/uverbs/prm/qp_attributes.h"

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint32_t From(sim::State state) { return 1u << static_cast<uint32_t>(state); }
constexpr uint32_t kAnyState = (1u << kStates) - 1;

struct Step {
  Opcode opcode;
  uint32_t from;
  sim::State to;
};

using enum sim::State;

constexpr Step kSteps[] = {
    {Opcode::kRst2Init, From(kReset), kInit},
    {Opcode::kInit2Init, From(kInit), kInit},
    {Opcode::kInit2Rtr, From(kInit), kReadyToReceive},
    {Opcode::kRtr2Rts, From(kReadyToReceive), kReadyToSend},
    {Opcode::kRts2Rts, From(kReadyToSend), kReadyToSend},
    {Opcode::kSqErr2Rts, From(kSendQueueError), kReadyToSend},
    {Opcode::k2Err, kAnyState, kError},
    {Opcode::k2Rst, kAnyState, kReset},
};

const Step& StepOf(uint32_t opcode) {
  return *std::find_if(std::begin(kSteps), std::end(kSteps), [opcode](const Step& step) {
    return static_cast<uint32_t>(step.opcode) == opcode;
  });
}

// Fields that no attribute of the NIC stands for: kept, and handed back by QUERY_QP.
constexpr struct {
  Opcode opcode;
  Field field;
} kKept[] = {
    {Opcode::kRst2Init, qpc::kCounterSet},     {Opcode::kRst2Init, qpc::kAtomicMode},
    {Opcode::kInit2Rtr, qpc::kAtomicMode},     {Opcode::kInit2Rtr, qpc::kLogMessageMax},
    {Opcode::kRtr2Rts, qpc::kLogAckFrequency},
};

Refusal CheckPath(State& state, const Address& path) {
  if (!path.global) return Refusal::kNone;
  return path.gid_index < state.config.gids.size() ? Refusal::kNone : Refusal::kGidIndex;
}

Refusal CheckAttributes(State& state, const uint8_t* context, const QpAttributes& wanted,
                        uint32_t mask) {
  const RnicConfig& nic = state.Function().Config();
  if ((mask & kAttrPathMtu) != 0 && (wanted.path_mtu == 0 || wanted.path_mtu > nic.mtu)) {
    return Refusal::kMtu;
  }
  const auto too_many = [&](uint32_t attribute, Field log) {
    return (mask & attribute) != 0 && (1u << Get(context, log)) > nic.limits.rd_atomic;
  };
  if (too_many(kAttrMaxRdAtomic, qpc::kLogSraMax) ||
      too_many(kAttrMaxDestRdAtomic, qpc::kLogRraMax)) {
    return Refusal::kRdAtomic;
  }
  if ((mask & kAttrPort) != 0 && wanted.port > 1) return Refusal::kPort;
  if ((mask & kAttrAddress) == 0) return Refusal::kNone;
  return CheckPath(state, wanted.address);
}

}  // namespace

Refusal Transit(State& state, Call& call) {
  const uint32_t qpn = call.in[kNumber];
  Qp* qp = nullptr;
  Refusal refusal = Find(state.qps, qpn, call.uid, Refusal::kNoQp, &qp);
  if (refusal != Refusal::kNone) return refusal;
  const Step& step = StepOf(call.in[kOpcode]);
  const QpContext& now = *state.Function().FindQp(qpn);
  if ((step.from & From(now.state)) == 0) return Refusal::kQpState;
  const Transition transition = TransitionOf(now.type, now.state, step.to);
  if (!transition.allowed) return Refusal::kQpTransition;
  std::array<uint8_t, qpc::kBytes> context;
  call.in.Copy(qpc::kAt, context);
  QpAttributes wanted;
  ReadAttributes(context.data(), state.config.link, &wanted);
  wanted.state = step.to;
  const uint32_t options = call.in[qpc::kOptional];
  const uint32_t mask =
      transition.required | (transition.optional & AttributesOf(options)) | kAttrState;
  if ((transition.required & kAttrAccess) == 0) {
    // Each right is an option of its own.
    constexpr struct {
      uint32_t option;
      uint8_t right;
    } kRights[] = {{qpc::kOptRemoteRead, kMayReadRemotely},
                   {qpc::kOptRemoteWrite, kMayWriteRemotely},
                   {qpc::kOptRemoteAtomic, kMayUseAtomics}};
    for (const auto& [option, right] : kRights) {
      if ((options & option) != 0) continue;
      wanted.access =
          static_cast<uint8_t>((wanted.access & ~right) | (now.attributes.access & right));
    }
  }
  refusal = CheckAttributes(state, context.data(), wanted, mask);
  if (refusal != Refusal::kNone) return refusal;
  if (!state.nic.ModifyQp(qpn, wanted, mask).empty()) return Refusal::kQpAttributes;
  if (step.to == kReset) qp->context = qp->created;
  for (const auto& kept : kKept) {
    if (kept.opcode != step.opcode) continue;
    Set(qp->context.data(), kept.field, Get(context.data(), kept.field));
  }
  return Refusal::kNone;
}

}  // namespace ringpost::sim::uverbs::prm
