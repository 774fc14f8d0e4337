// The steps of a random program: each does the same to the memory and to the naive view machine.
#include <cstring>

#include "tests/properties/random_program.h"

namespace ringpost::sim {

void RandomProgram::Step() {
  // A thread runs ahead of the clock by what its own work takes.
  const AgentId thread = AnyThread();
  local_[thread] = Later(local_[thread], engine_.Now()) + Duration{static_cast<int64_t>(Below(40))};
  const AgentId device = AnyDevice();
  switch (Below(12)) {
    case 0:
      return StoreWord(thread);
    case 1:
      return LoadWord(thread);
    case 2:
      return ModifyWord(thread);
    case 3:
      return WeakWrite(thread);
    case 4:
      return WeakRead(thread);
    case 5:
    case 6:
      return FenceOf(thread);
    case 7:
      return Below(2) == 0 ? Meet() : StoreWord(thread);
    case 8:
      return Below(3) == 0 ? WeakRead(device) : LoadWord(thread);
    case 9:
      return DeviceWrite(device);
    case 10:
      return Below(2) == 0 || doorbells_.empty() ? Ring(thread) : AnswerDoorbell();
    default:
      return SendPacket(device);
  }
}

void RandomProgram::StoreWord(AgentId agent) {
  const Range word = AnyWord();
  const Order order = AnyOrder();
  const Scope scope = Below(6) == 0 ? Scope::kThread : AnyScope();
  const Duration drain{static_cast<int64_t>(Below(100))};
  Say("store", agent, word, static_cast<int>(order), static_cast<int>(scope));
  const NaiveMessage message = NewMessage(agent, word, drain);
  uint64_t value = 0;
  std::memcpy(&value, TokensOf({message}, word).data(), word.cells * 4);
  memory_.Store(At(agent, word.address), value, word.cells * 4, order, scope, drain);
  naive_.Store(message, order, scope);
}

void RandomProgram::LoadWord(AgentId agent) {
  const Range word = AnyWord();
  const Order order = AnyOrder();
  const Scope scope = Below(6) == 0 ? Scope::kThread : AnyScope();
  Sync(agent);
  Say("load", agent, word, static_cast<int>(order), static_cast<int>(scope));
  const uint64_t value = memory_.Load(At(agent, word.address), word.cells * 4, order, scope);
  naive_.Read(agent, Origins(agent, word, &value, false), order, scope);
}

void RandomProgram::ModifyWord(AgentId agent) {
  const Range word = AnyWord();
  const Order order = AnyOrder();
  const Scope scope = AnyScope();
  Sync(agent);
  Say("read-modify-write", agent, word, static_cast<int>(order), static_cast<int>(scope));
  const NaiveMessage message = NewMessage(agent, word, {});
  uint64_t value = 0;
  std::memcpy(&value, TokensOf({message}, word).data(), word.cells * 4);
  const uint64_t old = memory_.Modify(At(agent, word.address), word.cells * 4, order, scope,
                                      [value](uint64_t) { return value; });
  naive_.Modify(message, Origins(agent, word, &old, true), order, scope);
}

void RandomProgram::WeakWrite(AgentId agent) {
  const Range range = AnyRange(agent);
  const Duration drain{static_cast<int64_t>(Below(100))};
  Say("weak write", agent, range, -1, -1);
  const std::vector<NaiveMessage> messages = Messages(agent, range, drain);
  memory_.Write(At(agent, range.address), TokensOf(messages, range).data(), range.cells * 4, drain);
  for (const NaiveMessage& message : messages) {
    naive_.Store(message, Order::kRelaxed, Scope::kThread);
  }
}

void RandomProgram::WeakRead(AgentId agent) {
  const Range range = AnyRange(agent);
  Sync(agent);
  Say("weak read", agent, range, -1, -1);
  std::vector<uint32_t> bytes(range.cells);
  memory_.Read(At(agent, range.address), bytes.data(), range.cells * 4);
  const Cells cells = Origins(agent, range, bytes.data(), false);
  naive_.Read(agent, cells, Order::kRelaxed, Scope::kThread);
}

// A device's write is in flight until its time comes.
void RandomProgram::DeviceWrite(AgentId device) {
  const Range range = AnyRange(device);
  local_[device] = Later(local_[device], engine_.Now()) + Duration{static_cast<int64_t>(Below(60))};
  Say("device write", device, range, -1, -1);
  const std::vector<NaiveMessage> messages = Messages(device, range, {});
  memory_.WriteFromDevice(At(device, range.address), TokensOf(messages, range).data(),
                          range.cells * 4);
  // All of them are one release: what is attached covers them all.
  for (const NaiveMessage& message : messages) {
    naive_.Store(message, Order::kRelaxed, Scope::kThread);
  }
  for (const NaiveMessage& message : messages) {
    naive_.Store(message, Order::kRelease, Scope::kSystem);
  }
}

void RandomProgram::FenceOf(AgentId agent) {
  const Order order = AnyOrder();
  const Scope scope = AnyScope();
  Say("fence", agent, {0, 0}, static_cast<int>(order), static_cast<int>(scope));
  memory_.Fence(agent, order, scope);
  naive_.Fence(agent, order, scope);
}

void RandomProgram::Meet() {
  const std::vector<AgentId> warp = {0, 1};
  local_[0] = local_[1] = Later(local_[0], local_[1]);
  Say("warp barrier", 0, {0, 0}, -1, -1);
  memory_.Barrier(warp, kGroupBit | places_[0].warp);
  naive_.Barrier(warp);
}

void RandomProgram::Ring(AgentId thread) {
  const Order order = AnyOrder();
  const Scope scope = AnyScope();
  Say("doorbell", thread, {0, 0}, static_cast<int>(order), static_cast<int>(scope));
  const NaiveReleased released = naive_.Release(thread, order, scope);
  doorbells_.push_back(
      {thread, local_[thread], memory_.Release(thread, order, scope, {}), released});
}

void RandomProgram::AnswerDoorbell() {
  const HandOver doorbell = doorbells_.front();
  doorbells_.erase(doorbells_.begin());
  AgentId device = AnyDevice();
  while (places_[device].node != places_[doorbell.from].node) device = AnyDevice();
  engine_.TryAdvance(Later(doorbell.made, engine_.Now()));
  Sync(device);
  Say("doorbell taken", device, {0, 0}, -1, -1);
  memory_.AcceptDoorbell(device, doorbell.origin);
  naive_.AcceptDoorbell(device, doorbell.released);
}

void RandomProgram::SendPacket(AgentId device) {
  const AgentId target = AnyDevice();
  if (target == device) return;
  Sync(device);
  Sync(target);
  Say("packet sent", device, {0, 0}, -1, -1);
  Say("packet taken", target, {0, 0}, -1, -1);
  const NaiveReleased released = naive_.Release(device, Order::kRelease, Scope::kSystem);
  memory_.AcceptPacket(target, memory_.ReleaseFromDevice(device));
  naive_.AcceptPacket(target, released);
}

}  // namespace ringpost::sim
