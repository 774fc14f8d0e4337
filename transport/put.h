// put.h: RDMA WRITE: of memory, of a payload in the WQE, with a signal behind it, with immediate.
#pragma once

#include "transport/abi/inline_payload.h"
#include "transport/poster.h"

namespace ringpost {

inline constexpr uint32_t kMaxInlineBytes = 220;

// A zero-length write has no data segment: byte_count 0 would mean 2 GiB.
template <class Poster>
HOST_DEVICE void StoreWrite(Poster& poster, const abi::Segment& control, uint64_t index,
                            RemoteSpan target, LocalSpan source) {
  const abi::Segment wqe[3] = {
      control, abi::RemoteAddressOf(target.address, target.rkey),
      abi::DataOf(static_cast<uint32_t>(source.bytes), source.lkey, source.address)};
  poster.Store(index, wqe, source.bytes == 0 ? 2 : 3);
}

template <uint32_t kMost, class Poster>
HOST_DEVICE void StoreInlineWqe(Poster& poster, uint64_t index, uint8_t flags, RemoteSpan target,
                                const void* payload, uint32_t bytes) {
  const uint32_t segments = 2 + abi::InlineSegments(bytes);
  abi::Segment wqe[2 + abi::InlineSegments(kMost)];
  wqe[0] = poster.Control(abi::Opcode::kRdmaWrite, index, segments, flags);
  wqe[1] = abi::RemoteAddressOf(target.address, target.rkey);
  abi::PackInline(wqe + 2, payload, bytes);
  poster.Port().GatherInline(bytes);
  poster.Store(index, wqe, segments);
}

template <uint32_t kMost, class Poster>
HOST_DEVICE_SELDOM void StoreLongInline(Poster& poster, uint64_t index, uint8_t flags,
                                        RemoteSpan target, const void* payload, uint32_t bytes) {
  StoreInlineWqe<kMost>(poster, index, flags, target, payload, bytes);
}

// What fits into one segment, most of what is sent, needs no room for the longest.
template <uint32_t kMost, class Poster>
HOST_DEVICE void StoreInline(Poster& poster, uint64_t index, uint8_t flags, RemoteSpan target,
                             const void* payload, uint32_t bytes) {
  constexpr uint32_t kOneSegment = 12;
  if (kMost <= kOneSegment || bytes <= kOneSegment) {
    StoreInlineWqe<kOneSegment>(poster, index, flags, target, payload, bytes);
  } else {
    StoreLongInline<kMost>(poster, index, flags, target, payload, bytes);
  }
}

template <class Poster>
HOST_DEVICE void StorePiece(Poster& poster, abi::Opcode opcode, uint64_t index, uint8_t flags,
                            RemoteSpan target, LocalSpan source,
                            const typename Poster::Piece& piece, uint32_t immediate = 0) {
  const uint32_t segments = piece.bytes == 0 ? 2 : 3;
  StoreWrite(poster, poster.Control(opcode, index, segments, flags, immediate), index,
             {target.address + piece.offset, target.rkey},
             {source.address + piece.offset, piece.bytes, source.lkey});
}

// `last` is the opcode of the last piece.
template <class Poster>
HOST_DEVICE Posted PostPut(Poster& poster, RemoteSpan target, LocalSpan source,
                           abi::Opcode last = abi::Opcode::kRdmaWrite, uint32_t immediate = 0) {
  using Piece = typename Poster::Piece;
  return poster.PostPieces(
      source.bytes, {1, 0}, [=, &poster](uint64_t index, uint8_t flags, const Piece& piece) {
        const abi::Opcode opcode = piece.last ? last : abi::Opcode::kRdmaWrite;
        StorePiece(poster, opcode, index, flags, target, source, piece, immediate);
      });
}

// `kMost` bounds `bytes` where the caller knows better than any inline payload.
template <uint32_t kMost, class Poster>
HOST_DEVICE Posted PostPutInline(Poster& poster, RemoteSpan target, const void* payload,
                                 uint32_t bytes) {
  if (bytes > poster.Qp().max_inline || bytes > kMost) return poster.Refused();
  const uint32_t blocks = poster.Blocks(2 + abi::InlineSegments(bytes));
  return poster.Post({blocks, 0}, [=, &poster](uint64_t index, uint8_t flags) {
    StoreInline<kMost>(poster, index, flags, target, payload, bytes);
  });
}

// The signal stands behind the last piece, in the same post.
template <class Poster>
HOST_DEVICE Posted PostPutSignal(Poster& poster, RemoteSpan target, LocalSpan source,
                                 RemoteSpan signal, uint64_t value) {
  using Piece = typename Poster::Piece;
  return poster.PostPieces(
      source.bytes, {2, 1}, [=, &poster](uint64_t index, uint8_t flags, const Piece& piece) {
        const uint8_t its = piece.last ? uint8_t{abi::kCqeOnError} : flags;
        StorePiece(poster, abi::Opcode::kRdmaWrite, index, its, target, source, piece);
        if (!piece.last) return;
        StoreInline<sizeof(value)>(poster, index + 1, flags, signal, &value, sizeof(value));
      });
}

}  // namespace ringpost
