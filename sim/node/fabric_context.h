// fabric_context.h: what all nodes of one fabric share.
#pragma once

#include <functional>
#include <vector>

#include "sim/cost/cost_table.h"
#include "sim/engine/engine.h"
#include "sim/memory/item_pool.h"
#include "sim/memory/memory.h"
#include "sim/nic/rnic_config.h"
#include "sim/node/items.h"
#include "sim/node/trace.h"
#include "sim/wire/faults.h"
#include "sim/wire/packet.h"

namespace ringpost::sim {

class NicNode;

// Shown each packet as its sender puts it on the wire, before anything may go wrong with it.
using PacketTap =
    std::function<void(Time time, uint32_t from, uint32_t to, const wire::Packet& packet)>;

struct FabricContext {
  Engine& engine;
  Memory& memory;
  const CostTable& costs;
  Faults& faults;
  Trace& trace;
  uint32_t run_length = 64;  // WQEs parsed at one go; changes no result
  RnicConfig nic = {};       // of every node; the MTU is the link's
  std::vector<NicNode*> nodes = {};
  PacketTap tap = {};
  bool watched = tap != nullptr || faults.At(FaultWhere::kWire);  // one branch for both
  ItemPool<PacketItem> packets = {};
};

}  // namespace ringpost::sim
