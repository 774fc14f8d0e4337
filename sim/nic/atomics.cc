#include "sim/nic/atomics.h"

#include "sim/nic/big_endian.h"

namespace ringpost::sim {

uint64_t AddInFields(uint64_t old, uint64_t addend, uint64_t boundary) {
  // Without the uppermost bit of each field nothing can carry out of it; that bit is an XOR.
  const uint64_t lower = (old & ~boundary) + (addend & ~boundary);
  return lower ^ ((old ^ addend) & boundary);
}

uint64_t ApplyAtomic(const wire::Packet& packet, uint64_t old) {
  switch (wire::AsRc(packet.opcode)) {
    case wire::Opcode::kRcFetchAdd:
      return old + packet.swap_add;
    case wire::Opcode::kRcCompareSwap:
      return old == packet.compare ? packet.swap_add : old;
    case wire::Opcode::kRcMaskedFetchAdd:
      return AddInFields(old, packet.swap_add, packet.compare_mask);
    default:
      if (((old ^ packet.compare) & packet.compare_mask) != 0) return old;
      return (old & ~packet.swap_mask) | (packet.swap_add & packet.swap_mask);
  }
}

void FillAtomic(const SendWqe& wqe, const uint8_t* operands, wire::Packet& packet) {
  const bool compare = wqe.opcode == abi::Opcode::kAtomicMaskedCompareSwap;
  packet.atomic_bytes = wqe.atomic_bytes;
  if (wqe.atomic_bytes == 4) {
    packet.swap_add = Big32(operands);
    packet.compare = compare ? Big32(operands + 4) : 0;
    packet.swap_mask = compare ? Big32(operands + 8) : 0;
    packet.compare_mask = compare ? Big32(operands + 12) : Big32(operands + 4);
    return;
  }
  packet.swap_add = Big64(operands);
  packet.compare = compare ? Big64(operands + 8) : 0;
  packet.swap_mask = compare ? Big64(operands + 16) : 0;
  packet.compare_mask = compare ? Big64(operands + 24) : Big64(operands + 8);
}

uint64_t ResultInMemory(uint64_t original, uint32_t bytes) {
  return bytes == 4 ? abi::Swap32(static_cast<uint32_t>(original)) : original;
}

}  // namespace ringpost::sim
