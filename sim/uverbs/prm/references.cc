// What objects refer to: whether it exists, who may use it, and who does.
#include "sim/uverbs/prm/state.h"

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint64_t kRingAlignment = 64;
constexpr uint64_t kRecordAlignment = 8;
constexpr uint64_t kRecordBytes = 8;

bool Fits(const Umem& umem, uint64_t offset, uint64_t bytes) {
  return bytes <= umem.bytes && offset <= umem.bytes - bytes;
}

Refusal FindUmem(State& state, uint32_t id, uint16_t uid, Umem** umem) {
  return Find(state.umems, id, uid, Refusal::kNoUmem, umem);
}

}  // namespace

Refusal CheckPd(State& state, uint32_t pd, uint16_t uid) {
  return CheckReference(state.pds, pd, uid, state.Function().Keys().HasPd(pd), Refusal::kNoPd);
}

Refusal CheckCq(State& state, uint32_t cqn, uint16_t uid) {
  const bool exists = state.Function().FindCq(cqn) != nullptr;
  return CheckReference(state.cqs, cqn, uid, exists, Refusal::kNoCq);
}

Refusal CheckRmp(State& state, uint32_t rmpn, uint16_t uid) {
  const bool exists = state.Function().FindSrq(rmpn) != nullptr;
  return CheckReference(state.rmps, rmpn, uid, exists, Refusal::kNoRmp);
}

Refusal CheckUar(State& state, uint32_t page, uint16_t uid, uint64_t* address) {
  *address = page == 0 ? 0 : state.config.uars.address(page);
  const auto found = state.uars.find(page);
  if (found != state.uars.end() && found->second.own && !MayUse(found->second.uid, uid)) {
    return Refusal::kForeign;
  }
  return *address != 0 ? Refusal::kNone : Refusal::kNoUar;
}

Refusal PlaceRing(State& state, const RingPlace& place, uint16_t uid, uint64_t* address) {
  if (!place.valid) return Refusal::kNeedsUmem;
  Umem* umem = nullptr;
  const Refusal refusal = FindUmem(state, place.umem, uid, &umem);
  if (refusal != Refusal::kNone) return refusal;
  if (!Fits(*umem, place.offset, place.bytes)) return Refusal::kRingOutside;
  if (place.written && !umem->writable) return Refusal::kUmemReadOnly;
  *address = umem->address + place.offset;
  return *address % kRingAlignment == 0 ? Refusal::kNone : Refusal::kRingAlignment;
}

Refusal PlaceRecord(State& state, const RecordPlace& place, uint16_t uid, uint64_t* address) {
  if (!place.in_umem) {
    // An address is the kernel's to give.
    if (uid != 0) return Refusal::kNeedsUmem;
    *address = place.offset;
  } else {
    Umem* umem = nullptr;
    const Refusal refusal = FindUmem(state, place.umem, uid, &umem);
    if (refusal != Refusal::kNone) return refusal;
    if (!Fits(*umem, place.offset, place.bytes)) return Refusal::kRecordOutside;
    *address = umem->address + place.offset;
  }
  return *address % kRecordAlignment == 0 ? Refusal::kNone : Refusal::kRecordAlignment;
}

Uses UsesOf(const RingPlace& ring, const RecordPlace& record, uint32_t uar) {
  Uses uses;
  if (ring.bytes != 0) uses.ring = ring.umem;
  uses.uar = uar;
  if (record.in_umem) {
    uses.record = record.umem;
  } else {
    uses.record_address = record.offset;
  }
  return uses;
}

void Take(State& state, const Uses& uses) {
  for (const uint32_t umem : {uses.ring, uses.record}) {
    if (umem != 0) ++state.umems.at(umem).users;
  }
  if (uses.uar != 0) ++state.uars[uses.uar].users;
  if (uses.record_address != 0) state.nic.Memory().Allow(uses.record_address, kRecordBytes);
}

void Leave(State& state, const Uses& uses) {
  for (const uint32_t umem : {uses.ring, uses.record}) {
    if (umem != 0) --state.umems.at(umem).users;
  }
  if (uses.record_address != 0) state.nic.Memory().Forbid(uses.record_address, kRecordBytes);
  if (uses.uar == 0) return;
  UarPage& page = state.uars[uses.uar];
  // The kernel's pages are known only while they are used.
  if (--page.users == 0 && !page.own) state.uars.erase(uses.uar);
}

}  // namespace ringpost::sim::uverbs::prm
