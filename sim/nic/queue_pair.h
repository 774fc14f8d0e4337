// queue_pair.h: the NIC's context of one RC queue pair, and the work in flight on it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "transport/abi/cqe.h"
#include "transport/abi/wqe.h"

namespace ringpost::sim {

enum class QpState : uint8_t { kReset, kReady, kError };

// What the host tells the NIC when it creates a QP. Sizes are checked by the backend.
struct QpConfig {
  uint64_t sq = 0;
  uint64_t record = 0;
  uint64_t cq = 0;
  uint32_t depth = 0;      // WQEBBs, a power of two
  uint32_t cqe_count = 1;  // entries; a collapsed CQ rewrites slot 0
  bool collapsed = true;
};

// A WQE that has been fetched and not yet acknowledged.
struct Outstanding {
  uint64_t index = 0;
  abi::Opcode opcode = abi::Opcode::kNop;
  bool signalled = false;
};

struct QueuePair {
  uint32_t qpn = 0;
  QpConfig config;
  QpState state = QpState::kReset;
  uint32_t peer_node = 0;
  uint32_t peer_qpn = 0;
  uint64_t producer = 0;  // WQEBBs announced; the NIC's own 64-bit count
  uint64_t fetched = 0;   // WQEBBs fetched
  uint64_t cqe_index = 0;
  uint32_t next_psn = 0;
  uint32_t expected_psn = 0;
  std::deque<Outstanding> outstanding;
};

enum class WorkStatus : uint8_t { kOk, kLocalError, kRemoteError, kDropped };

// One WQE on its way. Pooled by the driver; `payload` keeps its capacity.
struct Work {
  uint32_t qpn = 0;
  uint32_t peer_qpn = 0;
  uint64_t index = 0;  // first WQEBB
  uint32_t wqebbs = 1;
  abi::Opcode opcode = abi::Opcode::kNop;
  uint8_t flags = 0;
  bool inline_payload = false;
  bool needs_payload = false;  // a pointer WRITE: bytes still lie at local_address
  WorkStatus status = WorkStatus::kOk;
  abi::Syndrome syndrome = abi::Syndrome::kNone;
  uint8_t vendor_syndrome = 0;
  uint32_t packets = 1;
  uint32_t psn = 0;
  uint32_t local_key = 0;
  uint32_t remote_key = 0;
  uint64_t local_address = 0;
  uint64_t remote_address = 0;
  uint32_t bytes = 0;
  std::vector<uint8_t> payload;

  bool Signalled() const { return (flags & abi::kCqeAlways) != 0; }
  bool IsRead() const { return opcode == abi::Opcode::kRdmaRead; }
};

}  // namespace ringpost::sim
