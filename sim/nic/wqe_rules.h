// wqe_rules.h: what a QP's WQEs are held to.
#pragma once

#include <cstdint>

#include "sim/nic/qp_states.h"
#include "sim/nic/rnic_config.h"

namespace ringpost::sim {

struct WqeRules {
  QpType type = QpType::kRc;
  bool waits = false;
  Behaviour behaviour = Behaviour::kMlx5;
  uint32_t mtu = 0;
  uint32_t message_bytes = 0;  // the longest
  bool routed = false;         // every address has a GID: RnicConfig
};

}  // namespace ringpost::sim
