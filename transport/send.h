// send.h: SEND: the peer has posted where it goes (receive_queue.h).
#pragma once

#include "transport/poster.h"

namespace ringpost {

template <class Poster>
HOST_DEVICE Posted PostSend(Poster& poster, abi::Opcode opcode, LocalSpan source,
                            uint32_t immediate) {
  // One message takes one receive: pieces would take more.
  if (poster.Refuses(source.bytes > poster.Qp().max_message)) return poster.Refused();
  const uint32_t segments = source.bytes == 0 ? 1 : 2;
  return poster.Post({1, 0}, [=](auto& writer, uint64_t index, uint8_t flags) {
    const abi::Segment wqe[2] = {
        writer.Control(opcode, index, segments, flags, immediate),
        abi::DataOf(static_cast<uint32_t>(source.bytes), source.lkey, source.address)};
    writer.Store(index, wqe, segments);
  });
}

}  // namespace ringpost
