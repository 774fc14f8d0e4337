// wqe_parser.h: the bytes of one send WQE into a record (contract, section 1).
#pragma once

#include <cstdint>

#include "sim/nic/send_window.h"
#include "sim/nic/wqe_rules.h"

namespace ringpost::sim {

inline constexpr uint32_t kMaxSendWqeBytes = abi::WqebbsOf(abi::kMaxSegments) * abi::kWqebbBytes;

// `wqe` holds wqe.segments segments. Fills everything but index and PSNs; `target` is filled for UD
// and DCI and may be null else. A WQE that cannot be meant comes back failed, with its syndrome.
void ParseWqe(const uint8_t* bytes, const WqeRules& rules, SendWqe& wqe, SendTarget* target);

// The same of what most WQEs are: an RC or UC WRITE within one block and one packet, with one SGE
// or little inline payload. False of any other.
bool ParseShortWrite(const uint8_t* bytes, const WqeRules& rules, SendWqe& wqe);

}  // namespace ringpost::sim
