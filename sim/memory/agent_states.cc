#include "sim/memory/agent_states.h"

#include <algorithm>
#include <utility>

namespace ringpost::sim {

void AgentStates::Add(uint64_t stamp) {
  states_.push_back(&pool_.Take());
  states_.back()->stamp = stamp;
  states_.back()->users = 1;
}

AgentState& AgentStates::Part(AgentId id) {
  AgentState& shared = *states_[id];
  AgentState& own = pool_.Take();
  own.stamp = shared.stamp;
  own.known = shared.known;
  own.users = 1;
  --shared.users;
  states_[id] = &own;
  return own;
}

void AgentStates::Leave(AgentState& state) {
  if (--state.users != 0) return;
  state.known = {};
  pool_.Give(state);
}

void AgentStates::Meet(const std::vector<AgentId>& agents, Key group, uint64_t stamp) {
  // Most still share what the last barrier gave them.
  AgentState* common = states_[agents.back()];
  uint32_t sharers = 0;
  uint64_t newest = common->stamp;
  View joined = common->known;
  for (const AgentId id : agents) {
    const AgentState& state = *states_[id];
    if (&state == common) {
      ++sharers;
      continue;
    }
    joined.Join(state.known);
    newest = std::max(newest, state.stamp);
  }
  // Those who share it and did not come to this barrier keep it.
  if (common->users != sharers) {
    common = &pool_.Take();
    common->users = 0;
  }
  common->known = {};
  joined.Raise(group, newest);
  common->known = std::move(joined);
  common->stamp = stamp;
  for (const AgentId id : agents) {
    AgentState* const state = states_[id];
    if (state == common) continue;
    Leave(*state);
    states_[id] = common;
    ++common->users;
  }
}

}  // namespace ringpost::sim
