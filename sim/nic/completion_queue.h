// completion_queue.h: the NIC's context of one completion queue. QPs share it, for sends and for
// receives.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/abi/cqe.h"

namespace ringpost::sim {

struct CqConfig {
  uint64_t ring = 0;
  uint32_t entries = 1;  // a power of two
  uint64_t record = 0;   // consumer index and arm word; 0 if nothing reads them
  bool collapsed = false;
  bool padded = false;  // an entry of 128 bytes is written whole: zeros before the CQE
  bool overrun_ignore = false;
  uint32_t entry_bytes = 64;  // or 128: a CQE is its upper half
};

enum class Arm : uint8_t { kNone, kAny, kSolicited };

struct CompletionQueue {
  uint32_t cqn = 0;
  CqConfig config;
  uint32_t producer = 0;  // CQEs written so far, modulo 2^32
  uint32_t consumer = 0;  // as far as the record is known
  bool failed = false;    // overrun, or the ring or its record is not there
  Arm arm = Arm::kNone;
  uint32_t last_solicited = 0;    // producer after the last solicited CQE
  uint32_t last_notified = 0;     // producer at the last event: CQC.last_notified_index
  uint32_t users = 0;             // QPs
  std::vector<uint32_t> waiters;  // QPNs with a WAIT for it
};

// An arm word (record word 1, and the dword at 0x20 of a UAR page): sn[29:28] cmd[24] ci[23:0].
struct ArmWord {
  Arm arm;
  uint32_t consumer;  // 24 bits
};
constexpr ArmWord DecodeArm(uint32_t word) {
  return {(word & (1u << 24)) != 0 ? Arm::kSolicited : Arm::kAny, word & 0xffffff};
}

// The 32-bit count nearest to `near` whose lower 24 bits these are.
constexpr uint32_t WidenIndex(uint32_t index, uint32_t near) {
  return near + static_cast<uint32_t>(static_cast<int32_t>((index - near) << 8) >> 8);
}

}  // namespace ringpost::sim
