// memory.h: the one way in which anything reads or writes simulated memory.
//
// Memory is a view machine (docs/memory_model.md): each location keeps recent stores as messages
// in coherence order; an agent may read any message that is not older than what it must know.
// Which of the legal ones it reads is the mode:
//   strict       the newest that exists
//   timed        the newest that has arrived by now, or that the reader must know
//   adversarial  a stale one for a while, by seed, unless the reader must know better
// Stores may lie in the future of the clock (`created`): threads run ahead of it, and a NIC's
// write is in flight. They exist for nobody before that time.
//
// The ordering checker looks at each weak read: if the newest store to a byte was not ordered
// before the read, it is reported with both program points, whatever value luck gave.
#pragma once

#include <deque>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/memory/access.h"
#include "sim/memory/address_space.h"
#include "sim/memory/agent_states.h"
#include "sim/memory/checker.h"
#include "sim/memory/item_pool.h"
#include "sim/memory/recent_stores.h"

namespace ringpost::sim {

class Memory {
 public:
  // `message` may be read through `watch` from `time` on.
  using WakeFn = void (*)(const Watch& watch, const Message& message, Time time);

  Memory(const Engine& engine, const MemoryOptions& options);
  Memory(const Memory&) = delete;

  AddressSpace& Space() { return space_; }
  Checker& Reports() { return checker_; }
  const MemoryOptions& Options() const { return options_; }
  AgentId AddAgent(const AgentPlace& place);

  // Weak accesses of any length; they return false, and touch nothing, outside allocated memory.
  // Read checks the order and copies; a device does the two apart. `basis`, if given, is what the
  // reader knew when it was told to read (a doorbell), where that is less than it knows now.
  bool Write(const Access& access, const void* bytes, uint64_t size, Duration drain);
  bool Read(const Access& access, void* bytes, uint64_t size);
  bool Copy(const Access& access, void* bytes, uint64_t size);
  void Check(const Access& access, uint64_t size, const View* basis = nullptr,
             const ReadContext& context = {});
  // The same for one whole line, in two steps that look for it once: a device reads a WQE's block
  // first and learns from it how much of it counts.
  LinePlace CopyLine(AgentId reader, uint64_t address, void* bytes);
  // Whether the first `size` bytes of a line are known to be in order; if not, Check says more.
  bool IsOrdered(const LinePlace& place, uint32_t size, AgentId reader, const View& view) const;
  // Bytes that a device writes: visible to all at `access.now`; strong, so that a poller
  // synchronises with them.
  bool WriteFromDevice(const Access& access, const void* bytes, uint64_t size);
  // The same of a read-modify-write, in host byte order, of what is newest at `access.now`.
  template <class F>
  uint64_t ModifyFromDevice(const Access& access, uint32_t size, F&& next) {
    agents_[access.agent].released.reset();  // it knows more in a moment
    return Modify(access, size, Order::kAcqRel, Scope::kSystem, next);
  }
  // A word by which a device goes on: strong, so that it synchronises with who stored it.
  bool ReadWordOnDevice(const Access& access, uint32_t* word);

  // Shared words of 4 or 8 bytes.
  void Store(const Access& access, uint64_t value, uint32_t size, Order order, Scope scope,
             Duration drain);
  uint64_t Load(const Access& access, uint32_t size, Order order, Scope scope);
  // Reads the newest value and replaces it with `next(old)`.
  template <class F>
  uint64_t Modify(const Access& access, uint32_t size, Order order, Scope scope, F&& next) {
    const uint64_t old = BeginModify(access, size, order, scope);
    FinishModify(access, next(old), size, order, scope);
    return old;
  }

  // As Modify, but stores only if the word reads `expected`.
  uint64_t CompareExchange(const Access& access, uint64_t expected, uint64_t desired, uint32_t size,
                           Order order, Scope scope);

  void Fence(AgentId agent, Order order, Scope scope);
  // All of them met at a barrier of `group`; a full one, so one entry stands for all of them.
  void Barrier(const std::vector<AgentId>& ids, Key group) { states_.Meet(ids, group, ++stamp_); }

  // Order without memory: what `agent` passes on with a doorbell or a packet, and taking it over.
  Origin Release(AgentId agent, Order order, Scope scope, Site site);
  Origin ReleaseFromDevice(AgentId agent);
  // What the device knows, its own stores not included.
  const ReleasedRef& KnowledgeOf(AgentId device) {
    if (agents_[device].released == nullptr) CollectKnowledge(device);
    return agents_[device].released;
  }
  void AcceptDoorbell(AgentId device, const Origin& doorbell);
  void AcceptPacket(AgentId device, const Origin& packet);
  View KnownOf(AgentId agent) const { return states_[agent].known; }
  // Into the host's caches; changes nothing.
  void Prefetch(uint64_t address) const { space_.Prefetch(address); }

  // From outside the simulation: initial contents and final ones; no agent, no order.
  bool Poke(uint64_t address, const void* bytes, uint64_t size);
  bool Peek(uint64_t address, void* bytes, uint64_t size);

  // Parking. The watch is told each later time at which its agent may read another value.
  void SetWake(WakeFn wake) { wake_ = wake; }
  LinePlace PlaceOf(uint64_t address) {
    Region* region = space_.Find(address, 1);
    return {&region->At(address), region->home};
  }
  void AddWatch(Watch& watch, Line& line);
  void RemoveWatch(Watch& watch);
  // The first time after `now` at which `agent` may read a message of this line that `matters`.
  template <class F>
  Time NextChange(AgentId agent, const LinePlace& place, Time now, F&& matters) const {
    Time next = Time::Never();
    for (const Message* m = place.line->pending; m != nullptr; m = m->next) {
      const Time from = VisibleFrom(*m, agent, place.home);
      if (now < from && matters(*m)) next = Earlier(next, from);
    }
    return next;
  }
  // When an atomic may be performed on this line that needs it for `service` from `now` on.
  Time ReserveAtomic(uint64_t address, Time now, Duration service);

  // The oldest message of byte `address` that `agent` may still read, counted from the newest
  // that exists at `now` (0: only the newest). For the comparison with a naive view machine.
  uint32_t LegalDepth(AgentId agent, uint64_t address, Time now);

 private:
  uint64_t BeginModify(const Access& access, uint32_t size, Order order, Scope scope);
  void ContinueRelease(Origin& origin);
  void FinishModify(const Access& access, uint64_t value, uint32_t size, Order order, Scope scope);
  void CollectKnowledge(AgentId id);
  Line& LineAt(uint64_t address, uint32_t size, Home* home);
  template <class Carry>
  void PutInLines(Region& region, const Access& access, const void* bytes, uint64_t size,
                  Duration drain, const Carry& carry);
  template <class Carry>
  void Put(const LinePlace& place, const Access& access, uint32_t size, const void* bytes,
           Duration drain, Carry&& carry);
  void TellWatchers(const LinePlace& place, const Message& message);
  void Settle(Line& line) {
    if (line.pending != nullptr && !(engine_.Now() < line.pending->settles)) SettleFirst(line);
  }
  void SettleFirst(Line& line);
  void SettleRecent();
  void Fold(Line& line, Time now);
  void Apply(Line& line, Message& message);
  void MakeRoom(OriginNode& newest, uint64_t mask);
  LineExtra& ExtraOf(Line& line);
  bool Visible(const Message& message, AgentId reader, Home home, Time now) const;
  bool IsLocal(AgentId reader, Home home) const;
  bool Knows(const View& view, AgentId reader, Home home, const Origin& origin) const;
  Time VisibleFrom(const Message& message, AgentId reader, Home home) const;
  Duration Delay(uint64_t message_id, AgentId reader) const;
  int EdgeSlot(AgentId writer, AgentId reader, Home home) const;
  static void JoinCarried(View& view, const Acquirable& store, int scope, bool local_only);
  bool Covers(const ClockRef& clock, Key group, const Origin& origin) const;
  static bool Covers(const Acquirable& later, const Acquirable& earlier);
  static void MergeInto(Acquirable& entry, const Acquirable& store, int scope);
  void Acquire(AgentId reader, const Origin& origin, Home home, Order order, Scope scope);
  void MakeStrong(Origin& origin, AgentId id, Order order, Scope scope);
  void ReleaseFence(AgentId agent, int scope);
  void AcquireFence(AgentId agent, int scope);
  void CheckRead(const Line& line, uint64_t mask, const Access& access, Home home, const View& view,
                 const ReadContext& context);
  void Report(const Origin& store, const Access& access, Home home, const ReadContext& context);
  const Message* OverlayPending(Line& line, uint32_t offset, uint32_t size, const Access& access,
                                Home home, bool newest, void* out);
  const Message* Overlay(Line& line, uint32_t offset, uint32_t size, const Access& access,
                         Home home, bool newest, void* out);
  void See(const Line& line, uint64_t wanted, const Access& access, Home home, bool newest);
  void ReadStrong(Line& line, const Access& access, uint32_t size, Home home, bool newest,
                  uint64_t* value, Origin* source);

  const Engine& engine_;
  MemoryOptions options_;
  const Duration settle_delay_;  // of the modes that do not look at what drains
  AddressSpace space_;
  Checker checker_;
  AgentStates states_;
  std::vector<Agent> agents_;  // by agent, as is the next
  std::vector<Key> groups_;    // of GPU threads, their warp; 0 for others
  Origin modified_;            // what the Modify under way has read
  // The last answer of Knows for a lane of a warp.
  mutable ClockRef last_known_;
  mutable Key last_group_ = 0;
  mutable uint64_t last_stamp_ = 0;
  WakeFn wake_ = nullptr;
  uint64_t stamp_ = 1;
  uint64_t message_id_ = 0;
  RecentStores recent_;
  Time next_settles_ = Time::Never();  // of the first of them
  std::deque<LineExtra> extras_{1};    // number 0 is nobody's
  ItemPool<Message, 1024> messages_;
  ItemPool<OriginNode, 1024> origins_;
};

}  // namespace ringpost::sim
