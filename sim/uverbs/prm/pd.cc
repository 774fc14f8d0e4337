// Protection domains.
#include "sim/uverbs/prm/commands.h"

namespace ringpost::sim::uverbs::prm {

Refusal AllocPd(State& state, Call& call) {
  if (state.pds.size() >= kMaxPds) return Refusal::kTooManyPds;
  const uint32_t pd = state.Function().Keys().AllocatePd();
  state.pds[pd] = {call.uid};
  call.out.Put(kNumber, pd);
  return Refusal::kNone;
}

Refusal DeallocPd(State& state, Call& call) {
  const uint32_t number = call.in[kNumber];
  Pd* pd = nullptr;
  const Refusal refusal = Find(state.pds, number, call.uid, Refusal::kNoPd, &pd);
  if (refusal != Refusal::kNone) return refusal;
  if (!state.Function().Keys().FreePd(number)) return Refusal::kPdInUse;
  state.pds.erase(number);
  return Refusal::kNone;
}

}  // namespace ringpost::sim::uverbs::prm
