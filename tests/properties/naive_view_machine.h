// naive_view_machine.h: the meaning of sim/memory written down as plainly as possible.
//
// A message is one access to a set of 4-byte cells. A view is two explicit maps from cell to the
// oldest message that may still be read there: `local` for memory of the agent's own GPU, `system`
// for all other memory. Whatever an edge passes on, it passes on for both, except one through a
// NIC at GPU scope, which passes on `local` alone.
//
//   release (store or fence)   attaches the agent's view, for its scope and narrower ones
//   acquire (load or fence)    joins what the message read has attached for the narrowest scope
//                              that holds both agents, if the acquire's scope is as wide
//   read                       the message read is from now on the oldest legal one (coherence)
//   read-modify-write          reads the newest, and carries on what that message has attached
//
// No clocks, no stamps, no time: coherence order is (created, number), given from outside.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <utility>
#include <vector>

#include "sim/memory/address_space.h"
#include "sim/memory/agent.h"

namespace ringpost::sim {

// A message's place in coherence order.
struct Place {
  int64_t created_ps = -1;
  uint64_t number = 0;  // 0: the initial value
  auto operator<=>(const Place&) const = default;
};

class NaiveMap {
 public:
  Place Oldest(uint64_t cell) const {
    const auto found = oldest_.find(cell);
    return found == oldest_.end() ? Place{} : found->second;
  }
  void Raise(uint64_t cell, Place place) {
    Place& oldest = oldest_[cell];
    if (oldest < place) oldest = place;
  }
  void Join(const NaiveMap& other) {
    for (const auto& [cell, place] : other.oldest_) Raise(cell, place);
  }

 private:
  std::map<uint64_t, Place> oldest_;
};

struct NaiveView {
  NaiveMap local;
  NaiveMap system;

  void Join(const NaiveView& other) {
    local.Join(other.local);
    system.Join(other.system);
  }
  void Raise(uint64_t cell, Place place) {
    local.Raise(cell, place);
    system.Raise(cell, place);
  }
};

using NaiveReleased = std::array<NaiveView, kScopes>;

struct NaiveMessage {
  Place place;
  AgentId writer = 0;
  int64_t arrival_ps = 0;
  std::vector<uint64_t> cells;
  bool strong = false;
  NaiveReleased attached;  // by strong stores
};

using Cells = std::vector<std::pair<uint64_t, Place>>;  // cell, and the message read there

class NaiveViewMachine {
 public:
  // `reads_whole`: who reads one cell of a message may no longer read older ones in its others.
  NaiveViewMachine(bool nic_reads_l2, bool reads_whole)
      : nic_reads_l2_(nic_reads_l2), reads_whole_(reads_whole) {}

  void AddAgent(const AgentPlace& place) { agents_.push_back({place, {}, {}, {}}); }
  void SetHome(uint64_t cell, Home home) { homes_[cell] = home; }

  // A store of `order` and `scope` (Scope::kThread: a plain one). A device's store is a release
  // at system scope.
  void Store(const NaiveMessage& stored, Order order, Scope scope);
  // A read took these cells from these messages; it synchronises with the newest of them.
  void Read(AgentId reader, const Cells& cells, Order order, Scope scope);
  // Writes `stored`, having read `cells`.
  void Modify(const NaiveMessage& stored, const Cells& cells, Order order, Scope scope);

  void Fence(AgentId id, Order order, Scope scope);
  void Barrier(const std::vector<AgentId>& ids);

  // Order without memory: what is passed on with a doorbell or a packet, and taking it over.
  NaiveReleased Release(AgentId id, Order order, Scope scope) const;
  void AcceptDoorbell(AgentId device, const NaiveReleased& doorbell);
  void AcceptPacket(AgentId device, const NaiveReleased& packet);

  // The oldest message of `cell` that `id` may still read.
  Place Oldest(AgentId id, uint64_t cell) const;
  // How many messages of `cell` that exist at `now_ps` are newer than that one.
  uint32_t LegalDepth(AgentId id, uint64_t cell, int64_t now_ps) const;
  // The newest message that exists at `now_ps`.
  Place Newest(uint64_t cell, int64_t now_ps) const;
  // The newest one that is `reader`'s own, has arrived, or must be known to `reader`.
  Place NewestArrived(AgentId reader, uint64_t cell, int64_t now_ps) const;

 private:
  struct NaiveAgent {
    AgentPlace place;
    NaiveView view;
    NaiveReleased fenced;                           // covered by its last release fences, by scope
    std::array<NaiveView, kScopes + 1> acquirable;  // read, but not yet acquired
  };

  const NaiveMessage* Find(Place place) const;
  void Attach(NaiveReleased& attached, AgentId writer, Order order, Scope scope) const;
  int Slot(AgentId a, AgentId b, Home home) const;

  bool nic_reads_l2_;
  bool reads_whole_;
  std::vector<NaiveAgent> agents_;
  std::map<uint64_t, Home> homes_;
  std::map<Place, NaiveMessage> messages_;  // in coherence order
};

}  // namespace ringpost::sim
