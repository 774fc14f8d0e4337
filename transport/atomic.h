// atomic.h: atomic operations on 8 bytes of the peer, which the peer's NIC carries out.
#pragma once

#include "transport/poster.h"

namespace ringpost {

inline constexpr uint64_t kAtomicBytes = 8;

inline constexpr uint32_t kAtomicSegments = 4;

template <class Writer>
HOST_DEVICE void StoreAtomic(Writer& writer, abi::Opcode opcode, uint64_t index, uint8_t flags,
                             RemoteSpan target, LocalSpan result, const abi::Segment& operands) {
  const abi::Segment wqe[kAtomicSegments] = {
      writer.Control(opcode, index, kAtomicSegments, flags),
      abi::RemoteAddressOf(target.address, target.rkey), operands,
      abi::DataOf(kAtomicBytes, result.lkey, result.address)};
  writer.Store(index, wqe, kAtomicSegments);
}

// The old value comes back in this machine's byte order, as NICs with both bits of
// atomic_req_8B_endianness_mode write it.
template <class Poster>
HOST_DEVICE Posted PostAtomic(Poster& poster, abi::Opcode opcode, RemoteSpan target,
                              LocalSpan result, const abi::Segment& operands) {
  const bool odd = result.bytes != kAtomicBytes || target.address % kAtomicBytes != 0;
  if (poster.Refuses(odd)) return poster.Refused();
  return poster.Post({poster.Blocks(kAtomicSegments), 0},
                     [=](auto& writer, uint64_t index, uint8_t flags) {
                       StoreAtomic(writer, opcode, index, flags, target, result, operands);
                     });
}

template <class Poster>
HOST_DEVICE Posted PostFetchAdd(Poster& poster, LocalSpan result, RemoteSpan target,
                                uint64_t addend) {
  return PostAtomic(poster, abi::Opcode::kAtomicFetchAdd, target, result, abi::AtomicOf(addend, 0));
}

template <class Poster>
HOST_DEVICE Posted PostCompareSwap(Poster& poster, LocalSpan result, RemoteSpan target,
                                   uint64_t compare, uint64_t swap) {
  return PostAtomic(poster, abi::Opcode::kAtomicCompareSwap, target, result,
                    abi::AtomicOf(swap, compare));
}

}  // namespace ringpost
