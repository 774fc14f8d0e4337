// put.h: RDMA WRITE: of memory, of a payload in the WQE, with a signal behind it, with immediate.
#pragma once

#include "transport/abi/inline_payload.h"
#include "transport/poster.h"

namespace ringpost {

inline constexpr uint32_t kMaxInlineBytes = 220;

// One of many puts (Endpoint::PutValues).
template <class T>
struct ValuePut {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  RemoteSpan target;
  T value;
};

// A zero-length write has no data segment: byte_count 0 would mean 2 GiB.
template <class Writer>
HOST_DEVICE void StoreWrite(Writer& writer, const abi::Segment& control, uint64_t index,
                            RemoteSpan target, LocalSpan source) {
  const abi::Segment wqe[3] = {
      control, abi::RemoteAddressOf(target.address, target.rkey),
      abi::DataOf(static_cast<uint32_t>(source.bytes), source.lkey, source.address)};
  writer.Store(index, wqe, source.bytes == 0 ? 2 : 3);
}

HOST_DEVICE abi::Segment PackShort(const void* payload, uint32_t bytes) {
  abi::Segment packed{};
  abi::PackInline(&packed, payload, bytes);
  return packed;
}

template <class Writer>
HOST_DEVICE void StoreShortInline(Writer& writer, uint64_t index, uint8_t flags, RemoteSpan target,
                                  const abi::Segment& payload, uint32_t bytes) {
  const uint32_t segments = 2 + abi::InlineSegments(bytes);
  const abi::Segment wqe[3] = {writer.Control(abi::Opcode::kRdmaWrite, index, segments, flags),
                               abi::RemoteAddressOf(target.address, target.rkey), payload};
  writer.Port().GatherInline(bytes);
  writer.Store(index, wqe, segments);
}

template <uint32_t kMost, class Writer>
HOST_DEVICE_SELDOM void StoreLongInline(Writer& writer, uint64_t index, uint8_t flags,
                                        RemoteSpan target, const void* payload, uint32_t bytes) {
  const uint32_t segments = 2 + abi::InlineSegments(bytes);
  abi::Segment wqe[2 + abi::InlineSegments(kMost)];
  wqe[0] = writer.Control(abi::Opcode::kRdmaWrite, index, segments, flags);
  wqe[1] = abi::RemoteAddressOf(target.address, target.rkey);
  abi::PackInline(wqe + 2, payload, bytes);
  writer.Port().GatherInline(bytes);
  writer.Store(index, wqe, segments);
}

template <class Writer, class Piece>
HOST_DEVICE void StorePiece(Writer& writer, abi::Opcode opcode, uint64_t index, uint8_t flags,
                            RemoteSpan target, LocalSpan source, const Piece& piece,
                            uint32_t immediate = 0) {
  const uint32_t segments = piece.bytes == 0 ? 2 : 3;
  StoreWrite(writer, writer.Control(opcode, index, segments, flags, immediate), index,
             {target.address + piece.offset, target.rkey},
             {source.address + piece.offset, piece.bytes, source.lkey});
}

// `last` is the opcode of the last piece.
template <class Poster>
HOST_DEVICE Posted PostPut(Poster& poster, RemoteSpan target, LocalSpan source,
                           abi::Opcode last = abi::Opcode::kRdmaWrite, uint32_t immediate = 0) {
  using Piece = typename Poster::Piece;
  return poster.PostPieces(
      source.bytes, {1, 0}, [=](auto& writer, uint64_t index, uint8_t flags, const Piece& piece) {
        const abi::Opcode opcode = piece.last ? last : abi::Opcode::kRdmaWrite;
        StorePiece(writer, opcode, index, flags, target, source, piece, immediate);
      });
}

// `kMost` bounds `bytes` where the caller knows better than any inline payload.
template <uint32_t kMost, class Poster>
HOST_DEVICE Posted PostPutInline(Poster& poster, RemoteSpan target, const void* payload,
                                 uint32_t bytes) {
  Extent extent{poster.Blocks(2 + abi::InlineSegments(bytes)), 0};
  // By value: a short payload then needs no memory on a GPU. What is posted by turns goes into no
  // function of its own, and is not to be compiled twice.
  if (Poster::kAlone && bytes <= kShortInlineBytes && bytes <= kMost) {
    extent.inline_bytes = bytes;
    const abi::Segment packed = PackShort(payload, bytes);
    return poster.Post(extent, [=](auto& writer, uint64_t index, uint8_t flags) {
      StoreShortInline(writer, index, flags, target, packed, bytes);
    });
  }
  if (bytes > poster.Qp().max_inline || bytes > kMost) return poster.Refused();
  return poster.Post(extent, [=](auto& writer, uint64_t index, uint8_t flags) {
    if (kMost <= kShortInlineBytes || bytes <= kShortInlineBytes) {
      StoreShortInline(writer, index, flags, target, PackShort(payload, bytes), bytes);
    } else {
      StoreLongInline<kMost>(writer, index, flags, target, payload, bytes);
    }
  });
}

// `count` puts; `next(i)` says which is the i-th. A QP of this thread is looked at once for many,
// where no fence stands before the first.
template <class Poster, class Next>
HOST_DEVICE Posted PostPutValues(Poster& poster, uint32_t count, Next next) {
  using Value = decltype(next(0u).value);
  Posted posted;
  uint32_t done = 0;
  for (; done < count && (!Poster::kAlone || poster.IsNextFenced()); ++done) {
    const ValuePut<Value> put = next(done);
    posted = PostPutInline<sizeof(uint64_t)>(poster, put.target, &put.value, sizeof(Value));
    if (!posted.status.Ok()) return posted;
  }
  if constexpr (Poster::kAlone) {
    if (done == count) return posted;
    const auto store = [=](auto& writer, uint64_t index, uint8_t flags, uint32_t i) {
      const ValuePut<Value> put = next(done + i);
      StoreShortInline(writer, index, flags, put.target, PackShort(&put.value, sizeof(Value)),
                       sizeof(Value));
    };
    posted = poster.PostEach(count - done, {1, 0, sizeof(Value)}, store);
  }
  return posted;
}

// The signal stands behind the last piece, in the same post.
template <class Poster>
HOST_DEVICE Posted PostPutSignal(Poster& poster, RemoteSpan target, LocalSpan source,
                                 RemoteSpan signal, uint64_t value) {
  using Piece = typename Poster::Piece;
  const abi::Segment packed = PackShort(&value, sizeof(value));
  return poster.PostPieces(
      source.bytes, {2, 1}, [=](auto& writer, uint64_t index, uint8_t flags, const Piece& piece) {
        const uint8_t its = piece.last ? uint8_t{abi::kCqeOnError} : flags;
        StorePiece(writer, abi::Opcode::kRdmaWrite, index, its, target, source, piece);
        if (!piece.last) return;
        StoreShortInline(writer, index + 1, flags, signal, packed, sizeof(value));
      });
}

}  // namespace ringpost
