// post.h: a request out of a ring as WQEs: by the functions that threads post with themselves.
#pragma once

#include "transport/atomic.h"
#include "transport/get.h"
#include "transport/poster.h"
#include "transport/proxy/descriptor.h"
#include "transport/put.h"
#include "transport/send.h"

namespace ringpost::proxy {

// `payload`: the inline bytes of the request.
template <class Poster>
Posted PostRequest(Poster& poster, const Request& r, const void* payload) {
  const QpView& qp = poster.Qp();
  const uint32_t immediate = static_cast<uint32_t>(r.a);
  switch (r.operation) {
    case Operation::kPut:
      return PostPut(poster, r.target, r.local);
    case Operation::kPutInline:
      return PostPutInline<kMaxInlineBytes>(poster, r.target, payload, r.inline_bytes);
    case Operation::kPutImmediate:
      return PostPut(poster, r.target, r.local, abi::Opcode::kRdmaWriteImm, immediate);
    case Operation::kGet:
      return PostGet(poster, r.local, r.target);
    case Operation::kFetchAdd:
      return PostFetchAdd(poster, r.local, r.target, r.a);
    case Operation::kCompareSwap:
      return PostCompareSwap(poster, r.local, r.target, r.a, r.b);
    case Operation::kSignal:
      return PostFetchAdd(poster, {qp.sink, kAtomicBytes, qp.sink_lkey}, r.target, r.a);
    case Operation::kSend:
      return PostSend(poster, abi::Opcode::kSend, r.local, 0);
    case Operation::kSendImmediate:
      return PostSend(poster, abi::Opcode::kSendImm, r.local, immediate);
  }
  return poster.Refused();
}

// WQEBBs that it takes at most, of a message that travels whole.
template <class Poster>
uint32_t BlocksOf(const Poster& poster, const Request& request) {
  constexpr uint32_t kMostSegments = 4;
  const uint32_t segments = request.operation == Operation::kPutInline
                                ? 2 + abi::InlineSegments(request.inline_bytes)
                                : kMostSegments;
  return poster.Blocks(segments);
}

}  // namespace ringpost::proxy
