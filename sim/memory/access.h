// access.h: what an access says of itself, and the settings of the memory that it goes to.
#pragma once

#include <cstdint>

#include "sim/engine/time.h"
#include "sim/memory/agent.h"
#include "transport/host_device.h"

namespace ringpost::sim {

enum class VisibilityMode : uint8_t { kStrict, kTimed, kAdversarial };

struct MemoryOptions {
  VisibilityMode mode = VisibilityMode::kTimed;
  bool nic_reads_l2 = true;  // GPU scope reaches the NIC for GPU memory (visibility.reads: l2)
  uint64_t seed = 1;
  Duration horizon = Duration::Ns(20000);  // adversarial: the longest that a store stays unseen
};

// One access: who, where, when, and the program point for reports.
struct Access {
  AgentId agent = 0;
  uint64_t address = 0;
  Time now;  // the time of the access; stores: when the message is created
  Site site;
};

}  // namespace ringpost::sim
