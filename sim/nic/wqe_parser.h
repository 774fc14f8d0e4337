// wqe_parser.h: the bytes of one send WQE into a record (contract, section 1).
#pragma once

#include <cstdint>
#include <cstring>

#include "sim/nic/big_endian.h"
#include "sim/nic/send_window.h"
#include "sim/nic/wqe_rules.h"

namespace ringpost::sim {

inline constexpr uint32_t kMaxSendWqeBytes = abi::WqebbsOf(abi::kMaxSegments) * abi::kWqebbBytes;

// `wqe` holds wqe.segments segments. Fills everything but index and PSNs; `target` is filled for UD
// and DCI and may be null else. A WQE that cannot be meant comes back failed, with its syndrome.
void ParseWqe(const uint8_t* bytes, const WqeRules& rules, SendWqe& wqe, SendTarget* target);

// The same of what most WQEs are: an RC or UC WRITE within one block and one packet, with one SGE
// or little inline payload. False of any other.
inline bool ParseShortWrite(const uint8_t* bytes, const WqeRules& rules, SendWqe& wqe) {
  const uint32_t segments = bytes[7] & 0x3f;
  const bool write = static_cast<abi::Opcode>(bytes[3]) == abi::Opcode::kRdmaWrite;
  if (!write || (rules.type != QpType::kRc && rules.type != QpType::kUc) || segments < 3) {
    return false;
  }
  const uint32_t count = Big32(bytes + 32);
  const uint32_t length = count & ~abi::kInlineFlag;
  if (count == length) {
    if (segments != 3 || count == 0 || count > rules.mtu) return false;
    wqe.traits = 0;
    wqe.local_key = Big32(bytes + 36);
    wqe.local_address = Big64(bytes + 40);
  } else {
    if (length > kShortInlineBytes || length > segments * abi::kSegmentBytes - 36) return false;
    wqe.traits = kWqeInline;
    std::memcpy(wqe.payload, bytes + 36, kShortInlineBytes);
  }
  wqe.opcode = abi::Opcode::kRdmaWrite;
  wqe.flags = bytes[11];
  wqe.segments = static_cast<uint8_t>(segments);
  wqe.data_segment = 2;
  wqe.bytes = length;
  wqe.packets = 1;
  wqe.remote_address = Big64(bytes + 16);
  wqe.remote_key = Big32(bytes + 24);
  return true;
}

}  // namespace ringpost::sim
