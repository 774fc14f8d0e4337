// wqe_parser.h: the bytes of one send WQE into a record (contract, section 1).
#pragma once

#include <cstdint>

#include "sim/nic/rnic_config.h"
#include "sim/nic/send_window.h"
#include "sim/nic/qp_states.h"

namespace ringpost::sim {

inline constexpr uint32_t kMaxSendWqeBytes =
    abi::WqebbsOf(abi::kMaxSegments) * abi::kWqebbBytes;

struct WqeRules {
  QpType type = QpType::kRc;
  bool waits = false;
  Behaviour behaviour = Behaviour::kMlx5;
  uint32_t mtu = 0;
  uint32_t message_bytes = 0;  // the longest
};

// `wqe` holds wqe.segments segments. Fills everything but index and PSNs; `target` is filled for UD
// and DCI and may be null else. A WQE that cannot be meant comes back failed, with its syndrome.
void ParseWqe(const uint8_t* bytes, const WqeRules& rules, SendWqe& wqe, SendTarget* target);

}  // namespace ringpost::sim
