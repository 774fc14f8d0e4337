// atomic.h: atomic operations on 8 bytes of the peer, which the peer's NIC carries out.
#pragma once

#include "transport/poster.h"

namespace ringpost {

inline constexpr uint64_t kAtomicBytes = 8;

// The old value comes back in this machine's byte order, as NICs with both bits of
// atomic_req_8B_endianness_mode write it.
template <class Poster>
HOST_DEVICE Posted PostAtomic(Poster& poster, abi::Opcode opcode, RemoteSpan target,
                              LocalSpan result, const abi::Segment& operands) {
  const bool odd = result.bytes != kAtomicBytes || target.address % kAtomicBytes != 0;
  if (poster.Refuses(odd)) return poster.Refused();
  constexpr uint32_t kSegments = 4;
  return poster.Post({poster.Blocks(kSegments), 0},
                     [=](auto& writer, uint64_t index, uint8_t flags) {
                       const abi::Segment wqe[kSegments] = {
                           writer.Control(opcode, index, kSegments, flags),
                           abi::RemoteAddressOf(target.address, target.rkey), operands,
                           abi::DataOf(kAtomicBytes, result.lkey, result.address)};
                       writer.Store(index, wqe, kSegments);
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
