// packet.h: one InfiniBand transport packet, decoded: what NICs exchange, on every wire.
//
// The NIC's function makes and takes these; a wire carries them as they are (virtual time) or as
// bytes (`codec.h`: live, pcap). All fields are in host order. Which of the extended headers count
// follows from the opcode (`opcode.h`), never from a value.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "sim/wire/opcode.h"

namespace ringpost::sim::wire {

// Payload: most messages of a GPU transport fit without an allocation. A packet holds one MTU at
// most.
using Payload = boost::container::small_vector<uint8_t, 32>;

struct Packet {
  // BTH
  Opcode opcode{};
  bool solicited = false;
  bool ack_request = false;
  bool migrated = true;
  bool fecn = false;
  bool becn = false;
  uint16_t pkey = 0xffff;
  uint32_t dest_qpn = 0;  // 24 bits
  uint32_t psn = 0;       // 24 bits
  // RETH, AtomicETH
  uint64_t remote_address = 0;
  uint32_t remote_key = 0;
  uint32_t dma_length = 0;
  uint64_t swap_add = 0;
  uint64_t compare = 0;
  // Masked atomics (not in the IBA specification): masks, and 4 or 8 bytes.
  uint64_t swap_mask = 0;
  uint64_t compare_mask = 0;
  uint8_t atomic_bytes = 8;
  // AETH, AtomicAckETH
  uint8_t syndrome = 0;
  uint32_t msn = 0;  // 24 bits
  uint64_t original = 0;
  // DETH, DC
  uint32_t source_qpn = 0;
  uint32_t qkey = 0;
  uint64_t dc_key = 0;
  // ImmDt as it stands in memory (big endian already); IETH
  uint32_t immediate = 0;
  uint32_t invalidate_key = 0;
  Payload payload;

  bool operator==(const Packet&) const = default;
};

}  // namespace ringpost::sim::wire
