// UAR pages.
#include "sim/uverbs/prm/commands.h"

namespace ringpost::sim::uverbs::prm {

Refusal AllocUar(State& state, Call& call) {
  const uint32_t page = state.config.uars.allocate();
  if (page == 0) return Refusal::kTooManyUars;
  state.uars[page] = {call.uid, true, 0};
  call.out.Put(kNumber, page);
  return Refusal::kNone;
}

Refusal DeallocUar(State& state, Call& call) {
  const uint32_t number = call.in[kNumber];
  UarPage* page = nullptr;
  const Refusal refusal = Find(state.uars, number, call.uid, Refusal::kNoUar, &page);
  if (refusal != Refusal::kNone) return refusal;
  if (!page->own) return Refusal::kNoUar;
  if (page->users != 0) return Refusal::kUarInUse;
  state.uars.erase(number);
  state.config.uars.free(number);
  return Refusal::kNone;
}

}  // namespace ringpost::sim::uverbs::prm
