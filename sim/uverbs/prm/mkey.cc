// Memory keys over the pages of a umem; over all memory for the kernel.
#include "sim/uverbs/prm/commands.h"

namespace ringpost::sim::uverbs::prm {
namespace {

uint8_t RightsOf(const uint8_t* context) {
  constexpr struct {
    Field field;
    uint8_t right;
  } kRights[] = {{mkc::kLocalWrite, kMayWriteLocally},
                 {mkc::kRemoteWrite, kMayWriteRemotely},
                 {mkc::kRemoteRead, kMayReadRemotely},
                 {mkc::kAtomic, kMayUseAtomics}};
  uint8_t rights = 0;
  for (const auto& [field, right] : kRights) {
    if (Get(context, field) != 0) rights |= right;
  }
  return rights;
}

// Which memory the key names.
Refusal RegionOf(State& state, const Call& call, const Mkey& mkey, MemoryRegion* region) {
  const uint8_t* context = mkey.context.data();
  region->iova = Get(context, mkc::kStart);
  region->bytes = Get(context, mkc::kLength);
  if (Get(context, mkc::kAccessModeHigh) != 0) return Refusal::kAccessMode;
  switch (Get(context, mkc::kAccessMode)) {
    case mkc::kPhysical:
      if (call.uid != 0) return Refusal::kAccessMode;
      region->address = region->iova;
      // 2^64 bytes are one more than a length can say: the last one has no key.
      if (Get(context, mkc::kLength64) != 0) *region = {0, 0, ~uint64_t{0}, 0, 0};
      return Refusal::kNone;
    case mkc::kPages:
      break;
    default:
      return Refusal::kAccessMode;
  }
  if (call.in[mkc::kUmemValid] == 0) return Refusal::kNeedsUmem;
  Umem* umem = nullptr;
  const Refusal refusal = Find(state.umems, call.in[mkc::kUmem], call.uid, Refusal::kNoUmem, &umem);
  if (refusal != Refusal::kNone) return refusal;
  const uint64_t offset = call.in[mkc::kUmemOffset];
  if (Get(context, mkc::kLength64) != 0 || offset > umem->bytes ||
      region->bytes > umem->bytes - offset) {
    return Refusal::kMkeyRange;
  }
  constexpr uint8_t kWrites = kMayWriteLocally | kMayWriteRemotely | kMayUseAtomics;
  if (!umem->writable && (RightsOf(context) & kWrites) != 0) return Refusal::kUmemReadOnly;
  region->address = umem->address + offset;
  return Refusal::kNone;
}

}  // namespace

Refusal CreateMkey(State& state, Call& call) {
  Mkey mkey;
  mkey.uid = call.uid;
  call.in.Copy(mkc::kAt, mkey.context);
  const uint8_t* context = mkey.context.data();
  for (const Field changes : {mkc::kFree, mkc::kUmr, mkc::kRemoteInvalidate}) {
    if (Get(context, changes) != 0) return Refusal::kMkeyUmr;
  }
  if (Get(context, mkc::kQpn) != mkc::kAnyQpn) return Refusal::kMkeyOfQp;
  const uint32_t pd = Get(context, mkc::kPd);
  Refusal refusal = CheckPd(state, pd, call.uid);
  MemoryRegion region;
  if (refusal == Refusal::kNone) refusal = RegionOf(state, call, mkey, &region);
  if (refusal != Refusal::kNone) return refusal;
  if (region.bytes == 0 || region.iova + (region.bytes - 1) < region.iova) {
    return Refusal::kMkeyRange;
  }
  region.pd = pd;
  region.rights = RightsOf(context);
  const auto variant = static_cast<int>(Get(context, mkc::kVariant));
  mkey.key = state.Function().Keys().Register(region, variant);
  if (mkey.key == 0) return Refusal::kTooManyMkeys;
  if (call.in[mkc::kUmemValid] != 0) mkey.uses.ring = call.in[mkc::kUmem];
  if (Get(context, mkc::kAccessMode) == mkc::kPhysical) mkey.uses.ring = 0;
  Take(state, mkey.uses);
  state.mkeys[mkey.key >> 8] = mkey;
  call.out.Put(kNumber, mkey.key >> 8);
  return Refusal::kNone;
}

Refusal QueryMkey(State& state, Call& call) {
  Mkey* mkey = nullptr;
  const Refusal refusal = Find(state.mkeys, call.in[kNumber], call.uid, Refusal::kNoMkey, &mkey);
  if (refusal == Refusal::kNone) call.out.Copy(kContextAt, mkey->context);
  return refusal;
}

Refusal DestroyMkey(State& state, Call& call) {
  const uint32_t index = call.in[kNumber];
  Mkey* mkey = nullptr;
  const Refusal refusal = Find(state.mkeys, index, call.uid, Refusal::kNoMkey, &mkey);
  if (refusal != Refusal::kNone) return refusal;
  state.Function().Keys().Deregister(mkey->key);
  Leave(state, mkey->uses);
  state.mkeys.erase(index);
  return Refusal::kNone;
}

}  // namespace ringpost::sim::uverbs::prm
