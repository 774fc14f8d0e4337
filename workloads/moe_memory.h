// moe_memory.h: memory and queues of the ranks of moe_dispatch, what their threads are given of it,
// and whether everything has arrived.
//
// Counters and flags are new ones each round, so that none needs to be cleared.
#pragma once

#include <string>
#include <vector>

#include "configs/schema/config.h"
#include "workloads/mesh.h"
#include "workloads/moe_routing.h"
#include "workloads/moe_thread.h"

namespace ringpost::workloads {

class MoeMemory {
 public:
  // Of `rounds` rounds. Fails with one line in `outcome`. The routing outlives it.
  MoeMemory(Fabric& fabric, const config::Config& config, const MoeRouting& routing,
            uint64_t rounds, Outcome& outcome);
  MoeMemory(const MoeMemory&) = delete;
  MoeMemory& operator=(const MoeMemory&) = delete;

  // Valid until the next call.
  const std::vector<MoeArguments>& ArgumentsOf(uint64_t round);
  // What is not as it should be after a round, in one line; empty: each token is where it belongs
  // with all its bytes, once.
  std::string WrongAfter(uint64_t round);

 private:
  struct Rank {
    RegisteredMemory input, staging, slots, flags, heads, counters, output;
    std::vector<QpView> views;
    std::vector<uint32_t> order, first, arrive;
  };
  // Slots and words of one rank.
  struct Sizes {
    uint64_t staging = 0, slots = 0, output = 0, flags = 0, heads = 0, counters = 0;
  };

  Sizes SizesOf() const;
  void Allocate(Outcome& outcome);
  void FillInputs();
  void MakeLists();
  void Connect(Outcome& outcome);
  MoeArguments Common() const;
  std::vector<uint8_t> PayloadOf(uint32_t rank, uint32_t token) const;
  uint64_t WrongIn(uint32_t rank, uint64_t slot, uint64_t count, uint64_t round,
                   const std::vector<uint64_t>& expected);
  uint64_t WrongOfExperts(uint32_t rank, uint64_t round);
  uint64_t WrongOfRank(uint32_t rank, uint64_t round);

  Fabric& fabric_;
  const config::Config& config_;
  const MoeRouting& routing_;
  const uint64_t rounds_;
  const bool normal_;
  const uint32_t blocks_;
  uint64_t payload_bytes_ = 0, stride_ = 0;
  std::vector<Rank> ranks_;
  std::vector<MoeTarget> targets_;  // of the round of arguments_
  std::vector<MoeArguments> arguments_;
};

}  // namespace ringpost::workloads
