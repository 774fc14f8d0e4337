#include "sim/uverbs/prm/firmware.h"

#include <array>

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint16_t kLastUser = 0xffff;

template <class Objects>
uint64_t CountOf(const Objects& objects, uint16_t uid) {
  uint64_t count = 0;
  for (const auto& [number, object] : objects) count += object.uid == uid ? 1 : 0;
  return count;
}

}  // namespace

Firmware::~Firmware() {
  const std::set<uint16_t> users = users_;
  for (const uint16_t uid : users) Close(uid);
  Close(0);
}

uint16_t Firmware::Open() {
  for (uint32_t uid = 1; uid <= kLastUser; ++uid) {
    if (users_.insert(static_cast<uint16_t>(uid)).second) return static_cast<uint16_t>(uid);
  }
  return 0;
}

Refusal Firmware::Execute(std::span<const uint8_t> in, std::span<uint8_t> out, uint16_t uid) {
  Call call{Input(in), Output(out), uid};
  call.out.Clear();
  Refusal refusal = Refusal::kUnknownOpcode;
  const CommandFacts* command = FindCommand(static_cast<uint16_t>(call.in[kOpcode]));
  if (in.size() < kHeaderBytes) {
    refusal = Refusal::kInputTooShort;
  } else if (command != nullptr) {
    if (in.size() < command->in_bytes) {
      refusal = Refusal::kInputTooShort;
    } else if (out.size() < command->out_bytes) {
      refusal = Refusal::kOutputTooShort;
    } else {
      refusal = command->run(state_, call);
    }
  }
  const RefusalFacts& facts = FactsOf(refusal);
  call.out.Put(kStatus, static_cast<uint32_t>(facts.status));
  call.out.Put(kSyndrome, facts.syndrome);
  return refusal;
}

uint32_t Firmware::CreateUmem(const Umem& umem) {
  if (!state_.nic.Memory().Allow(umem.address, umem.bytes)) return 0;
  // Numbers are not used again before all others were.
  while (next_umem_ == 0 || state_.umems.contains(next_umem_)) ++next_umem_;
  state_.umems[next_umem_] = umem;
  return next_umem_++;
}

Refusal Firmware::DestroyUmem(uint32_t number, uint16_t uid) {
  Umem* umem = nullptr;
  const Refusal refusal = Find(state_.umems, number, uid, Refusal::kNoUmem, &umem);
  if (refusal != Refusal::kNone) return refusal;
  if (umem->users != 0) return Refusal::kUmemInUse;
  state_.nic.Memory().Forbid(umem->address, umem->bytes);
  state_.umems.erase(number);
  return Refusal::kNone;
}

bool Firmware::UsesPage(uint32_t page) const {
  const auto found = state_.uars.find(page);
  return found != state_.uars.end() && found->second.users != 0;
}

uint32_t Firmware::EqnOf(uint32_t vector) const {
  return vector < state_.config.completion_vectors ? kFirstEqn + vector : 0;
}

template <class Objects>
void Firmware::DestroyAll(const Objects& objects, uint16_t uid, Opcode destroy) {
  std::vector<uint32_t> numbers;
  for (const auto& [number, object] : objects) {
    if (object.uid == uid) numbers.push_back(number);
  }
  for (const uint32_t number : numbers) {
    std::array<uint8_t, kHeaderBytes> in{}, out{};
    Set(in.data(), kOpcode, static_cast<uint32_t>(destroy));
    Set(in.data(), kNumber, number);
    Execute(in, out, uid);
  }
}

void Firmware::Close(uint16_t uid) {
  // Users before what they use.
  DestroyAll(state_.qps, uid, Opcode::kDestroyQp);
  DestroyAll(state_.dcts, uid, Opcode::kDrainDct);
  DestroyAll(state_.dcts, uid, Opcode::kDestroyDct);
  DestroyAll(state_.rmps, uid, Opcode::kDestroyRmp);
  DestroyAll(state_.cqs, uid, Opcode::kDestroyCq);
  DestroyAll(state_.mkeys, uid, Opcode::kDestroyMkey);
  DestroyAll(state_.uars, uid, Opcode::kDeallocUar);
  DestroyAll(state_.pds, uid, Opcode::kDeallocPd);
  std::vector<uint32_t> umems;
  for (const auto& [number, umem] : state_.umems) {
    if (umem.uid == uid) umems.push_back(number);
  }
  for (const uint32_t umem : umems) DestroyUmem(umem, uid);
  users_.erase(uid);
}

ObjectCounts Firmware::Count(uint16_t uid) const {
  ObjectCounts counts;
  counts.pds = CountOf(state_.pds, uid);
  counts.umems = CountOf(state_.umems, uid);
  counts.mkeys = CountOf(state_.mkeys, uid);
  counts.cqs = CountOf(state_.cqs, uid);
  counts.rmps = CountOf(state_.rmps, uid);
  counts.qps = CountOf(state_.qps, uid);
  counts.dcts = CountOf(state_.dcts, uid);
  for (const auto& [page, uar] : state_.uars) counts.uars += uar.own && uar.uid == uid ? 1 : 0;
  return counts;
}

ObjectCounts Firmware::Count() const {
  ObjectCounts counts{state_.pds.size(),   0,
                      state_.umems.size(), state_.mkeys.size(),
                      state_.cqs.size(),   state_.rmps.size(),
                      state_.qps.size(),   state_.dcts.size()};
  for (const auto& [page, uar] : state_.uars) counts.uars += uar.own ? 1 : 0;
  return counts;
}

}  // namespace ringpost::sim::uverbs::prm
