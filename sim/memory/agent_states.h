// agent_states.h: what stores and barriers need of each agent: what it knows, and the stamp of the
// stores that it makes now.
//
// Threads that have met at a barrier know the same, and share one state until one of them learns or
// releases something by itself. Not thread-safe.
#pragma once

#include <vector>

#include "sim/memory/agent.h"
#include "sim/memory/item_pool.h"

namespace ringpost::sim {

// A line of the host.
struct alignas(64) AgentState {
  uint64_t stamp = 1;
  View known;
  AgentState* next = nullptr;  // of those that are not in use
  uint32_t users = 0;
};
static_assert(sizeof(AgentState) == 64);

class AgentStates {
 public:
  // The next agent, which knows nothing.
  void Add(uint64_t stamp);

  const AgentState& operator[](AgentId id) const { return *states_[id]; }
  // To change what this agent alone knows.
  AgentState& Own(AgentId id) {
    AgentState& state = *states_[id];
    return state.users == 1 ? state : Part(id);
  }
  // All `agents` know from now on what each of them did, and of `group` what they have stored;
  // their further stores have this stamp.
  void Meet(const std::vector<AgentId>& agents, Key group, uint64_t stamp);

 private:
  AgentState& Part(AgentId id);
  void Leave(AgentState& state);

  ItemPool<AgentState> pool_;
  std::vector<AgentState*> states_;
};

}  // namespace ringpost::sim
