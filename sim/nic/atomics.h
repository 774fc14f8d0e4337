// atomics.h: what an atomic does to the word it names, and how its operands and its result stand in
// WQEs and memory (contract, section 1.5).
//
// The target is operated on in host order. The original goes to the local buffer little endian for
// 8 bytes and big endian for 4.
#pragma once

#include <cstdint>

#include "sim/nic/send_window.h"
#include "sim/wire/packet.h"

namespace ringpost::sim {

// `compare_mask` of a masked addition has a 1 where no carry leaves the bit.
uint64_t AddInFields(uint64_t old, uint64_t addend, uint64_t boundary);

// What the word of an atomic's packet becomes.
uint64_t ApplyAtomic(const wire::Packet& packet, uint64_t old);

// Fills the operands of a packet. `operands` are the WQE's atomic segments: 16 bytes, or 32 for a
// masked compare of 8 bytes.
void FillAtomic(const SendWqe& wqe, const uint8_t* operands, wire::Packet& packet);

// The result as it stands in the local buffer.
uint64_t ResultInMemory(uint64_t original, uint32_t bytes);

}  // namespace ringpost::sim
