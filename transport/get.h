// get.h: RDMA READ.
#pragma once

#include "transport/poster.h"

namespace ringpost {

// A read of nothing has no data segment, as byte_count 0 would mean 2 GiB.
template <class Poster>
HOST_DEVICE Posted PostGet(Poster& poster, LocalSpan target, RemoteSpan source) {
  using Piece = typename Poster::Piece;
  return poster.PostPieces(
      target.bytes, {1, 0}, [=](auto& writer, uint64_t index, uint8_t flags, const Piece& piece) {
        const uint32_t segments = piece.bytes == 0 ? 2 : 3;
        const abi::Segment wqe[3] = {
            writer.Control(abi::Opcode::kRdmaRead, index, segments, flags),
            abi::RemoteAddressOf(source.address + piece.offset, source.rkey),
            abi::DataOf(piece.bytes, target.lkey, target.address + piece.offset)};
        writer.Store(index, wqe, segments);
      });
}

}  // namespace ringpost
