// put_signal_add.h: a put, and behind it, in the same post, an atomic add to a counter of the peer:
// who sees the counter may read the payload after an acquire.
#pragma once

#include "transport/atomic.h"
#include "transport/put.h"

namespace ringpost {

template <class Poster>
HOST_DEVICE LocalSpan SinkOf(Poster& poster) {
  return {poster.Qp().sink, kAtomicBytes, poster.Qp().sink_lkey};
}

// The add stands behind the last piece.
template <class Poster>
HOST_DEVICE Posted PostPutSignalAdd(Poster& poster, RemoteSpan target, LocalSpan source,
                                    RemoteSpan signal, uint64_t addend) {
  using Piece = typename Poster::Piece;
  if (poster.Refuses(signal.address % kAtomicBytes != 0)) return poster.Refused();
  const LocalSpan sink = SinkOf(poster);
  return poster.PostPieces(source.bytes, {1 + poster.Blocks(kAtomicSegments), 1},
                           [=](auto& writer, uint64_t index, uint8_t flags, const Piece& piece) {
                             const uint8_t its = piece.last ? uint8_t{abi::kCqeOnError} : flags;
                             StorePiece(writer, abi::Opcode::kRdmaWrite, index, its, target, source,
                                        piece);
                             if (!piece.last) return;
                             StoreAtomic(writer, abi::Opcode::kAtomicFetchAdd, index + 1, flags,
                                         signal, sink, abi::AtomicOf(addend, 0));
                           });
}

// The same of a value in the WQE.
template <class Poster>
HOST_DEVICE Posted PostValueSignalAdd(Poster& poster, RemoteSpan target, uint64_t value,
                                      RemoteSpan signal, uint64_t addend) {
  const bool odd = signal.address % kAtomicBytes != 0;
  if (poster.Refuses(odd || poster.Qp().max_inline < sizeof(value))) return poster.Refused();
  const LocalSpan sink = SinkOf(poster);
  const abi::Segment packed = PackShort(&value, sizeof(value));
  return poster.Post(
      {1 + poster.Blocks(kAtomicSegments), 1}, [=](auto& writer, uint64_t index, uint8_t flags) {
        StoreShortInline(writer, index, abi::kCqeOnError, target, packed, sizeof(value));
        StoreAtomic(writer, abi::Opcode::kAtomicFetchAdd, index + 1, flags, signal, sink,
                    abi::AtomicOf(addend, 0));
      });
}

}  // namespace ringpost
