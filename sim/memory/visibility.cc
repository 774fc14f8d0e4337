// Who may read what: views, edges of synchronisation, and the check of weak reads.
#include <algorithm>
#include <utility>

#include "sim/engine/check.h"
#include "sim/engine/random.h"
#include "sim/memory/memory.h"

namespace ringpost::sim {

namespace {

thread_local void* released_blocks = nullptr;  // each starts with a pointer to the next

// The slot of what a thread's own store carries on: who released it may be anywhere on the GPU.
int OwnSlot(AgentKind thread) {
  return ScopeIndex(thread == AgentKind::kGpuThread ? Scope::kGpu : Scope::kSystem);
}

}  // namespace

Released::~Released() = default;

void* Released::operator new(size_t size) {
  if (released_blocks == nullptr) return ::operator new(size);
  return std::exchange(released_blocks, *static_cast<void**>(released_blocks));
}

void Released::operator delete(void* block) {
  *static_cast<void**>(block) = std::exchange(released_blocks, block);
}

bool Memory::IsLocal(AgentId reader, Home home) const {
  return home.kind == HomeKind::kGpu && home.node == agents_[reader].place.node;
}

[[gnu::always_inline]] inline bool Memory::Knows(const View& view, AgentId reader, Home home,
                                                 const Origin& origin) const {
  if (origin.agent == reader) return true;
  const ClockRef& clock = IsLocal(reader, home) ? view.local : view.system;
  const Key group = groups_[origin.agent];
  // The lanes of a warp share their stamps from barrier to barrier: the answer is often the last.
  if (clock.SameAs(last_known_) && group == last_group_ && origin.stamp <= last_stamp_) return true;
  return Covers(clock, group, origin);
}

bool Memory::Covers(const ClockRef& clock, Key group, const Origin& origin) const {
  if (clock.Empty()) return false;
  if (group != 0 && clock.Covers(group, origin.stamp)) {
    last_known_ = clock;
    last_group_ = group;
    last_stamp_ = origin.stamp;
    return true;
  }
  return clock.Covers(origin.agent, origin.stamp);
}

Duration Memory::Delay(uint64_t message_id, AgentId reader) const {
  const uint64_t roll = Mix(Mix(options_.seed ^ message_id * 0x100000001b3ull) ^ reader);
  // Three of four messages stay unseen for a while: rarer, and a missing fence is luck again.
  if (roll % 4 == 0) return {};
  return {static_cast<int64_t>((roll >> 8) % static_cast<uint64_t>(options_.horizon.ps))};
}

Time Memory::VisibleFrom(const Message& message, AgentId reader, Home home) const {
  if (message.origin.agent == reader || options_.mode == VisibilityMode::kStrict) {
    return message.created;
  }
  const View& view = states_[reader].known;
  if (Knows(view, reader, home, message.origin)) return message.created;
  if (options_.mode == VisibilityMode::kTimed) return message.settles;
  if (view.HasSeen(message.id, IsLocal(reader, home))) return message.created;
  return message.created + Delay(message.id, reader);
}

bool Memory::Visible(const Message& message, AgentId reader, Home home, Time now) const {
  if (message.origin.agent == reader) return true;
  if (now < message.created) return false;
  if (options_.mode == VisibilityMode::kTimed && !(now < message.settles)) return true;
  return !(now < VisibleFrom(message, reader, home));
}

// The slot of Agent::acquirable for an edge between the two: the narrowest scope with both inside.
int Memory::EdgeSlot(AgentId writer, AgentId reader, Home home) const {
  const AgentPlace& a = agents_[writer].place;
  const AgentPlace& b = agents_[reader].place;
  const bool nic = a.kind == AgentKind::kNic || b.kind == AgentKind::kNic;
  if (nic) {
    const bool through_l2 = options_.nic_reads_l2 && home.kind == HomeKind::kGpu;
    return through_l2 && a.node == b.node ? kNicEdge : ScopeIndex(Scope::kSystem);
  }
  const bool gpu = a.kind == AgentKind::kGpuThread && b.kind == AgentKind::kGpuThread;
  if (!gpu || a.node != b.node) return ScopeIndex(Scope::kSystem);
  return a.cta == b.cta ? ScopeIndex(Scope::kCta) : ScopeIndex(Scope::kGpu);
}

// Joins into `view` what a strong store carries to those within `scope`.
void Memory::JoinCarried(View& view, const Acquirable& store, int scope, bool local_only) {
  const ClockRef& clock = local_only ? view.local : view.system;
  const Released* released = store.released.get();
  // Whoever knows of this store already knows what its writer knew then, which is all it carries
  // unless it carries on a release sequence.
  const bool own = released == nullptr || !released->continues;
  if (own && store.self_scope >= scope && store.stamp <= clock.Of(store.writer)) return;
  const bool known = released == nullptr || (released->owner_stamp != 0 &&
                                             released->owner_stamp <= clock.Of(released->owner));
  if (!known) {
    const View& carried = store.released->by_scope[scope];
    if (local_only) {
      view.JoinLocal(carried);
    } else {
      view.Join(carried);
    }
  }
  if (store.self_scope < scope) return;
  if (local_only) {
    view.local.Raise(store.writer, store.stamp);
  } else {
    view.Raise(store.writer, store.stamp);
  }
}

// Whether the later of two stores of one writer carries all that the earlier one does: what its
// fences have covered only grows, and so does what it knows. But a relaxed store passes on nothing
// of an earlier release store, and none what an earlier one carried on of others.
bool Memory::Covers(const Acquirable& later, const Acquirable& earlier) {
  if (later.stamp < earlier.stamp || later.self_scope < earlier.self_scope) return false;
  if (later.released == earlier.released || earlier.released == nullptr) return true;
  return later.released != nullptr && !earlier.released->continues;
}

// Makes `entry` carry what both stores of one writer do.
void Memory::MergeInto(Acquirable& entry, const Acquirable& store, int scope) {
  if (Covers(store, entry)) {
    entry = store;
    return;
  }
  if (Covers(entry, store)) return;
  View both;
  JoinCarried(both, entry, scope, false);
  const View before = both;
  JoinCarried(both, store, scope, false);
  if (both.SameAs(before)) return;
  ReleasedRef joined(new Released);
  joined->by_scope[scope] = both;
  joined->continues = true;
  entry.released = joined;
  entry.self_scope = -1;
  entry.stamp = std::max(entry.stamp, store.stamp);
}

void Memory::Acquire(AgentId reader, const Origin& origin, Home home, Order order, Scope scope) {
  if (origin.released == nullptr && origin.self_scope < 0) return;
  const bool own = origin.agent == reader;
  // A thread knows its own stores, but not what its read-modify-write carried on of others.
  const AgentKind kind = agents_[reader].place.kind;
  if (own && (kind == AgentKind::kNic || !origin.released || !origin.released->continues)) return;
  const int slot = own ? OwnSlot(kind) : EdgeSlot(origin.agent, reader, home);
  const int needed = slot == kNicEdge ? ScopeIndex(Scope::kGpu) : slot;
  Agent& agent = agents_[reader];
  const Acquirable store{origin.agent, origin.stamp, origin.released, origin.self_scope,
                         static_cast<int8_t>(slot)};
  const bool acquires =
      order == Order::kAcquire || order == Order::kAcqRel || order == Order::kSeqCst;
  if (acquires && ScopeIndex(scope) >= needed) {
    JoinCarried(states_.Own(reader).known, store, needed,
                slot == kNicEdge && scope != Scope::kSystem);
    return;
  }
  for (Acquirable& entry : agent.acquirable) {
    if (entry.writer != store.writer || entry.slot != store.slot) continue;
    MergeInto(entry, store, needed);
    return;
  }
  agent.acquirable.push_back(store);
}

void Memory::AcquireFence(AgentId id, int scope) {
  Agent& agent = agents_[id];
  if (agent.acquirable.empty()) return;
  AgentState& state = states_.Own(id);
  std::erase_if(agent.acquirable, [&](const Acquirable& entry) {
    const bool nic = entry.slot == kNicEdge;
    const int needed = nic ? ScopeIndex(Scope::kGpu) : entry.slot;
    if (needed > scope) return false;
    const bool local_only = nic && scope != ScopeIndex(Scope::kSystem);
    JoinCarried(state.known, entry, needed, local_only);
    // A wider fence may still make it hold for other memory.
    return !local_only;
  });
}

void Memory::ReleaseFence(AgentId id, int scope) {
  Agent& agent = agents_[id];
  AgentState& state = states_.Own(id);
  ReleasedRef released(new Released);
  if (agent.released != nullptr) released->by_scope = agent.released->by_scope;
  View covered = state.known;
  covered.Raise(id, state.stamp);
  for (int i = 0; i <= scope; ++i) {
    released->by_scope[i] = covered;
    agent.released_stamp[i] = state.stamp;
  }
  released->owner = id;
  released->owner_stamp = state.stamp;
  agent.released = released;
  state.stamp = ++stamp_;
}

void Memory::Fence(AgentId agent, Order order, Scope scope) {
  const int index = ScopeIndex(scope);
  if (index < 0 || order == Order::kRelaxed) return;
  if (order != Order::kRelease) AcquireFence(agent, index);
  if (order != Order::kAcquire) ReleaseFence(agent, index);
}

// What a strong store of this order and scope carries.
void Memory::MakeStrong(Origin& origin, AgentId id, Order order, Scope scope) {
  Agent& agent = agents_[id];
  origin.strong = true;
  origin.released = agent.released;
  const int index = ScopeIndex(scope);
  const bool releases =
      order == Order::kRelease || order == Order::kAcqRel || order == Order::kSeqCst;
  if (!releases || index < 0) return;
  AgentState& state = states_.Own(id);
  ReleasedRef released(new Released);
  if (agent.released != nullptr) released->by_scope = agent.released->by_scope;
  for (int i = 0; i <= index; ++i) {
    released->by_scope[i] = state.known;
    agent.released_stamp[i] = state.stamp;
  }
  origin.released = released;
  origin.self_scope = static_cast<int8_t>(index);
  state.stamp = ++stamp_;
}

Origin Memory::Release(AgentId id, Order order, Scope scope, Site site) {
  Origin origin;
  origin.agent = id;
  origin.stamp = states_[id].stamp;
  origin.site = PackedSite(site);
  MakeStrong(origin, id, order, scope);
  return origin;
}

void Memory::CollectKnowledge(AgentId id) {
  Agent& agent = agents_[id];
  agent.released = new Released;
  agent.released->by_scope.fill(states_[id].known);
}

Origin Memory::ReleaseFromDevice(AgentId id) {
  AgentState& state = states_.Own(id);
  Origin origin;
  origin.agent = id;
  origin.stamp = state.stamp;
  origin.released = KnowledgeOf(id);
  origin.self_scope = static_cast<int8_t>(ScopeIndex(Scope::kSystem));
  origin.strong = true;
  state.stamp = ++stamp_;
  return origin;
}

namespace {

Acquirable StoreOf(const Origin& origin) {
  return {origin.agent, origin.stamp, origin.released, origin.self_scope, 0};
}

}  // namespace

void Memory::AcceptDoorbell(AgentId device, const Origin& doorbell) {
  Agent& agent = agents_[device];
  AgentState& state = states_.Own(device);
  const Acquirable store = StoreOf(doorbell);
  if (options_.nic_reads_l2) {
    JoinCarried(state.known, store, ScopeIndex(Scope::kGpu), true);
  }
  JoinCarried(state.known, store, ScopeIndex(Scope::kSystem), false);
  agent.released.reset();
}

void Memory::AcceptPacket(AgentId device, const Origin& packet) {
  Agent& agent = agents_[device];
  AgentState& state = states_.Own(device);
  JoinCarried(state.known, StoreOf(packet), ScopeIndex(Scope::kSystem), false);
  agent.released.reset();
}

bool Memory::ReadWordOnDevice(const Access& access, uint32_t* word) {
  Region* region = space_.Find(access.address, sizeof(*word));
  if (region == nullptr) return false;
  uint64_t value = 0;
  Origin source;
  ReadStrong(region->At(access.address), access, sizeof(*word), region->home, false, &value,
             &source);
  *word = static_cast<uint32_t>(value);
  if (!source.strong) return true;
  const bool local =
      region->home.kind == HomeKind::kGpu && region->home.node == agents_[access.agent].place.node;
  if (local) {
    AcceptDoorbell(access.agent, source);
  } else {
    AcceptPacket(access.agent, source);
  }
  return true;
}

bool Memory::IsOrdered(const LinePlace& place, uint32_t size, AgentId reader,
                       const View& view) const {
  const OriginNode& only = place.line->newest;
  if (place.line->pending != nullptr || only.next != nullptr) return false;
  return (only.mask & MaskOf(0, size)) == 0 || Knows(view, reader, place.home, only.origin);
}

void Memory::CheckRead(const Line& line, uint64_t mask, const Access& access, Home home,
                       const View& view, const ReadContext& context) {
  if (line.pending == nullptr && line.newest.next == nullptr) {
    const OriginNode& only = line.newest;
    if ((only.mask & mask) != 0 && !Knows(view, access.agent, home, only.origin)) {
      Report(only.origin, access, home, context);
    }
    return;
  }
  // From the newest store to the oldest, until every byte has met its newest one.
  const Message* messages[64];
  size_t count = 0;
  for (const Message* m = line.pending; m != nullptr && count < 64; m = m->next) {
    if (!(access.now < m->created)) messages[count++] = m;
  }
  while (count > 0 && mask != 0) {
    const Origin& origin = messages[--count]->origin;
    if ((origin.Mask() & mask) == 0) continue;
    mask &= ~origin.Mask();
    if (!Knows(view, access.agent, home, origin)) Report(origin, access, home, context);
  }
  for (const OriginNode* node = &line.newest; node != nullptr && mask != 0; node = node->next) {
    if ((node->mask & mask) == 0) continue;
    mask &= ~node->mask;
    if (!Knows(view, access.agent, home, node->origin)) {
      Report(node->origin, access, home, context);
    }
  }
}

void Memory::Report(const Origin& store, const Access& access, Home home,
                    const ReadContext& context) {
  const int slot = EdgeSlot(store.agent, access.agent, home);
  const int needed = slot == kNicEdge ? ScopeIndex(Scope::kGpu) : slot;
  Violation violation;
  violation.context = context;
  violation.address = access.address;
  violation.writer = store.agent;
  violation.reader = access.agent;
  violation.store = store.site.Unpack();
  violation.read = access.site;
  violation.writer_released = agents_[store.agent].released_stamp[needed] >= store.stamp;
  violation.needed = static_cast<Scope>(needed + 1);
  checker_.Report(violation);
}

uint32_t Memory::LegalDepth(AgentId agent, uint64_t address, Time now) {
  Home home;
  Line& line = LineAt(address, 1, &home);
  Settle(line);
  const uint64_t bit = address % kLineBytes;
  uint32_t depth = 0;
  for (const Message* message = line.pending; message != nullptr; message = message->next) {
    if (now < message->created || ((message->origin.Mask() >> bit) & 1) == 0) continue;
    const View& view = states_[agent].known;
    const bool must_know = Knows(view, agent, home, message->origin) ||
                           view.HasSeen(message->id, IsLocal(agent, home));
    depth = must_know ? 0 : depth + 1;
  }
  return depth;
}

}  // namespace ringpost::sim
