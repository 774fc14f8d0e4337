#include "tests/properties/naive_view_machine.h"

#include <algorithm>

namespace ringpost::sim {
namespace {

bool Releases(Order order) {
  return order == Order::kRelease || order == Order::kAcqRel || order == Order::kSeqCst;
}

bool Acquires(Order order) {
  return order == Order::kAcquire || order == Order::kAcqRel || order == Order::kSeqCst;
}

bool Covers(const NaiveMessage& message, uint64_t cell) {
  return std::find(message.cells.begin(), message.cells.end(), cell) != message.cells.end();
}

// The slot of an edge from or to a NIC through GPU memory.
constexpr int kThroughNic = kScopes;

}  // namespace

const NaiveMessage* NaiveViewMachine::Find(Place place) const {
  const auto found = messages_.find(place);
  return found == messages_.end() ? nullptr : &found->second;
}

void NaiveViewMachine::Attach(NaiveReleased& attached, AgentId writer, Order order,
                              Scope scope) const {
  attached = agents_[writer].fenced;
  if (!Releases(order)) return;
  for (int i = 0; i <= ScopeIndex(scope); ++i) attached[i] = agents_[writer].view;
}

void NaiveViewMachine::Store(const NaiveMessage& stored, Order order, Scope scope) {
  NaiveMessage message = stored;
  for (const uint64_t cell : message.cells) agents_[message.writer].view.Raise(cell, message.place);
  message.strong = scope != Scope::kThread;
  if (message.strong) Attach(message.attached, message.writer, order, scope);
  messages_[message.place] = message;
}

int NaiveViewMachine::Slot(AgentId a, AgentId b, Home home) const {
  const AgentPlace& first = agents_[a].place;
  const AgentPlace& second = agents_[b].place;
  const bool same_node = first.node == second.node;
  if (first.kind == AgentKind::kNic || second.kind == AgentKind::kNic) {
    const bool through_l2 = nic_reads_l2_ && home.kind == HomeKind::kGpu && same_node;
    return through_l2 ? kThroughNic : ScopeIndex(Scope::kSystem);
  }
  const bool gpu =
      first.kind == AgentKind::kGpuThread && second.kind == AgentKind::kGpuThread && same_node;
  if (!gpu) return ScopeIndex(Scope::kSystem);
  return ScopeIndex(first.cta == second.cta ? Scope::kCta : Scope::kGpu);
}

void NaiveViewMachine::Read(AgentId reader, const Cells& cells, Order order, Scope scope) {
  NaiveAgent& agent = agents_[reader];
  const NaiveMessage* newest = nullptr;
  for (const auto& [cell, place] : cells) {
    const NaiveMessage* message = Find(place);
    if (message == nullptr) continue;
    agent.view.Raise(cell, place);
    for (const uint64_t each : message->cells) {
      if (reads_whole_) agent.view.Raise(each, place);
    }
    if (newest == nullptr || newest->place < place) newest = message;
  }
  if (newest == nullptr || !newest->strong || scope == Scope::kThread) return;
  const bool own = newest->writer == reader;
  // What its own update carried on may come from anywhere on the GPU. A NIC asks nobody.
  if (own && agent.place.kind == AgentKind::kNic) return;
  const Scope widest = agent.place.kind == AgentKind::kGpuThread ? Scope::kGpu : Scope::kSystem;
  const int slot =
      own ? ScopeIndex(widest) : Slot(newest->writer, reader, homes_.at(cells.front().first));
  const int needed = slot == kThroughNic ? ScopeIndex(Scope::kGpu) : slot;
  const NaiveView& attached = newest->attached[needed];
  if (!Acquires(order) || ScopeIndex(scope) < needed) {
    agent.acquirable[slot].Join(attached);
  } else if (slot == kThroughNic && scope != Scope::kSystem) {
    agent.view.local.Join(attached.local);
  } else {
    agent.view.Join(attached);
  }
}

void NaiveViewMachine::Modify(const NaiveMessage& stored, const Cells& cells, Order order,
                              Scope scope) {
  Read(stored.writer, cells, order, scope);
  Store(stored, order, scope);
  Place newest;
  for (const auto& [cell, place] : cells) newest = std::max(newest, place);
  const NaiveMessage* read = Find(newest);
  if (read == nullptr || !read->strong) return;
  NaiveReleased& attached = messages_.at(stored.place).attached;
  for (int i = 0; i < kScopes; ++i) attached[i].Join(read->attached[i]);
}

void NaiveViewMachine::Fence(AgentId id, Order order, Scope scope) {
  NaiveAgent& agent = agents_[id];
  if (order == Order::kRelaxed || scope == Scope::kThread) return;
  if (order != Order::kRelease) {
    for (int i = 0; i <= ScopeIndex(scope); ++i) agent.view.Join(agent.acquirable[i]);
    if (scope == Scope::kGpu) agent.view.local.Join(agent.acquirable[kThroughNic].local);
    if (scope == Scope::kSystem) agent.view.Join(agent.acquirable[kThroughNic]);
  }
  if (order == Order::kAcquire) return;
  for (int i = 0; i <= ScopeIndex(scope); ++i) agent.fenced[i] = agent.view;
}

void NaiveViewMachine::Barrier(const std::vector<AgentId>& ids) {
  NaiveView joined;
  for (const AgentId id : ids) joined.Join(agents_[id].view);
  for (const AgentId id : ids) agents_[id].view = joined;
}

NaiveReleased NaiveViewMachine::Release(AgentId id, Order order, Scope scope) const {
  NaiveReleased attached;
  Attach(attached, id, order, scope);
  return attached;
}

void NaiveViewMachine::AcceptDoorbell(AgentId device, const NaiveReleased& doorbell) {
  NaiveView& view = agents_[device].view;
  if (nic_reads_l2_) view.local.Join(doorbell[ScopeIndex(Scope::kGpu)].local);
  view.Join(doorbell[ScopeIndex(Scope::kSystem)]);
}

void NaiveViewMachine::AcceptPacket(AgentId device, const NaiveReleased& packet) {
  agents_[device].view.Join(packet[ScopeIndex(Scope::kSystem)]);
}

Place NaiveViewMachine::Oldest(AgentId id, uint64_t cell) const {
  const Home home = homes_.at(cell);
  const NaiveAgent& agent = agents_[id];
  const bool own_gpu = home.kind == HomeKind::kGpu && home.node == agent.place.node;
  return own_gpu ? agent.view.local.Oldest(cell) : agent.view.system.Oldest(cell);
}

uint32_t NaiveViewMachine::LegalDepth(AgentId id, uint64_t cell, int64_t now_ps) const {
  uint32_t depth = 0;
  for (auto each = messages_.upper_bound(Oldest(id, cell)); each != messages_.end(); ++each) {
    if (Covers(each->second, cell) && each->first.created_ps <= now_ps) ++depth;
  }
  return depth;
}

Place NaiveViewMachine::Newest(uint64_t cell, int64_t now_ps) const {
  Place newest;
  for (const auto& [place, message] : messages_) {
    if (Covers(message, cell) && place.created_ps <= now_ps) newest = place;
  }
  return newest;
}

Place NaiveViewMachine::NewestArrived(AgentId reader, uint64_t cell, int64_t now_ps) const {
  Place newest = Oldest(reader, cell);
  for (const auto& [place, message] : messages_) {
    const bool seen = message.arrival_ps <= now_ps || message.writer == reader;
    if (!Covers(message, cell) || place.created_ps > now_ps || !seen) continue;
    newest = std::max(newest, place);
  }
  return newest;
}

}  // namespace ringpost::sim
