// items.h: what waits in the channels of a NIC: doorbells on their way, packets on the wire.
#pragma once

#include <array>

#include "sim/memory/item_pool.h"
#include "sim/memory/memory.h"
#include "sim/nic/qp_context.h"
#include "sim/wire/packet.h"
#include "transport/abi/cqe.h"

namespace ringpost::sim {

struct Lane;

struct DoorbellItem {
  DoorbellItem* next = nullptr;
  Time due;
  uint64_t sequence = 0;
  Duration way;  // from the thread to the NIC
  uint64_t value = 0;
  Origin origin;
  QpContext* qp = nullptr;
  uint64_t until = 0;  // WQEBBs that this doorbell announced
  View basis;          // what the NIC knew when it was told
};

struct PacketItem {
  PacketItem* next = nullptr;
  Time due;
  uint64_t sequence = 0;
  uint32_t from_node = 0;
  uint32_t from_qp = 0;  // the sender's number, in order of creation
  uint64_t wqe = 0;      // the sender's, in WQEBBs: for faults and the trace
  ReleasedRef released;  // what the sending QP knew
  AgentId released_by = 0;
  uint64_t released_stamp = 0;  // what it has written itself counts too, up to here; 0: it does not
  uint32_t held = 0;            // bytes that it takes of a receive buffer, or on the way there
  wire::Packet packet;
};

// A CQE that the NIC will write once more.
struct CqeItem {
  CqeItem* next = nullptr;
  Time due;
  uint64_t sequence = 0;
  Lane* lane = nullptr;
  uint64_t address = 0;
  std::array<uint8_t, abi::kCqeBytes> bytes{};
};

}  // namespace ringpost::sim
