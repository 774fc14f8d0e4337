// agent.h: everything that reads and writes simulated memory: GPU threads, host threads, and one
// agent for each QP of a NIC, because a NIC orders its accesses per QP.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/memory/view.h"
#include "transport/host_device.h"
#include "transport/order.h"

namespace ringpost::sim {

enum class AgentKind : uint8_t { kGpuThread, kHostThread, kNic };

using AgentId = uint32_t;

// Where an agent runs. Agents of one node share its GPU; `cta` and `warp` are unique over all
// nodes and meaningless for others than GPU threads.
struct AgentPlace {
  AgentKind kind = AgentKind::kGpuThread;
  uint16_t node = 0;
  uint32_t cta = 0;
  uint32_t warp = 0;
};

// The scopes that synchronise more than one agent, as an index: cta, gpu, system.
inline constexpr int kScopes = 3;
constexpr int ScopeIndex(Scope scope) {
  return scope == Scope::kThread ? -1 : static_cast<int>(scope) - 1;
}

// What a strong store passes on to whoever acquires it, for each scope that the edge may need.
// Immutable once it is shared.
struct Released : boost::intrusive_ref_counter<Released, boost::thread_unsafe_counter> {
  std::array<View, kScopes> by_scope;
  // Made by a release of one agent: whoever knows this agent up to this stamp knows all of it.
  AgentId owner = 0;
  uint64_t owner_stamp = 0;  // 0: none
  // Carries what stores of others did, which its writer need not know itself.
  bool continues = false;

  ~Released();  // not inline: each store drops what the one before it carried
  // Made and dropped all the time: their blocks are kept.
  static void* operator new(size_t size);
  static void operator delete(void* block);
};
using ReleasedRef = boost::intrusive_ptr<Released>;

// An edge from a NIC through GPU memory holds at GPU scope, but for GPU memory alone.
inline constexpr int kNicEdge = kScopes;

// A strong store that an agent has read, and how far the edge between the two reaches.
struct Acquirable {
  AgentId writer = 0;
  uint64_t stamp = 0;
  ReleasedRef released;
  int8_t self_scope = -1;
  int8_t slot = 0;  // the scope that the edge needs, as an index, or kNicEdge
};

struct Agent {
  AgentPlace place;
  // Strong stores read relaxed: an acquire fence takes over what they carry. One entry for each
  // writer and slot, merged from all that were read.
  std::vector<Acquirable> acquirable;
  // What its relaxed stores carry: what its last release fences covered. A device: all it knows.
  ReleasedRef released;
  std::array<uint64_t, kScopes> released_stamp{};  // newest stamp covered by a release, by scope
};

}  // namespace ringpost::sim
