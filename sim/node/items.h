// items.h: what waits in the channels of a NIC: doorbells on their way, packets on the wire.
#pragma once

#include <array>
#include <memory>
#include <vector>

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

// Items that are taken and given back, never destroyed in between: a packet keeps the capacity of
// its payload.
template <class T>
class ItemPool {
 public:
  T& Take() {
    if (free_ == nullptr) {
      blocks_.push_back(std::make_unique<T[]>(kBlock));
      for (size_t i = 0; i < kBlock; ++i) {
        blocks_.back()[i].next = free_;
        free_ = &blocks_.back()[i];
      }
    }
    T& item = *free_;
    free_ = item.next;
    return item;
  }
  void Give(T& item) {
    item.next = free_;
    free_ = &item;
  }

 private:
  static constexpr size_t kBlock = 64;
  std::vector<std::unique_ptr<T[]>> blocks_;
  T* free_ = nullptr;
};

}  // namespace ringpost::sim
