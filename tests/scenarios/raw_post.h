// raw_post.h: WQEs that the Endpoint does not build (yet), posted the way it posts its own.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "transport/abi/wqe.h"
#include "transport/ordering.h"
#include "transport/publication/per_thread.h"

namespace ringpost {

// A signalled WQE of a control segment and `rest`.
template <class Ordering = OrderGpuFence, class P>
Posted PostRaw(P& port, const QpView& qp, abi::Opcode opcode,
               std::initializer_list<abi::Segment> rest, uint32_t opmod = 0) {
  const uint32_t count = 1 + static_cast<uint32_t>(rest.size());
  Indices own;
  const Posted posted = PerThread::Post<Ordering>(
      port, qp, own, {abi::WqebbsOf(count), 0},
      [&](P&, const QpView&, uint64_t index, uint8_t flags) {
        abi::Segment wqe[8];
        wqe[0] = abi::ControlSegmentOf(opcode, index & abi::kIndexMask, qp.qpn, count, flags);
        wqe[0].word[0] |= opmod;  // byte 0
        std::copy(rest.begin(), rest.end(), wqe + 1);
        port.StoreWqe(qp, index, wqe, count);
      });
  GiveIndicesBack<PerThread>(port, qp, own);
  return posted;
}

// The operands of an 8-byte atomic.
inline abi::Segment AtomicOf(uint64_t swap_add, uint64_t compare) {
  const uint64_t first = abi::Swap64(swap_add), second = abi::Swap64(compare);
  return {{static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32),
           static_cast<uint32_t>(second), static_cast<uint32_t>(second >> 32)}};
}

// An 8-byte fetch-and-add; the old value goes to `result`.
template <class Ordering = OrderGpuFence, class P>
Posted PostFetchAdd(P& port, const QpView& qp, RemoteSpan target, LocalSpan result,
                    uint64_t addend) {
  return PostRaw<Ordering>(port, qp, abi::Opcode::kAtomicFetchAdd,
                           {abi::RemoteAddressOf(target.address, target.rkey), AtomicOf(addend, 0),
                            abi::DataOf(8, result.lkey, result.address)});
}

template <class Ordering = OrderGpuFence, class P>
Posted PostCompareSwap(P& port, const QpView& qp, RemoteSpan target, LocalSpan result,
                       uint64_t compare, uint64_t swap) {
  return PostRaw<Ordering>(port, qp, abi::Opcode::kAtomicCompareSwap,
                           {abi::RemoteAddressOf(target.address, target.rkey),
                            AtomicOf(swap, compare), abi::DataOf(8, result.lkey, result.address)});
}

// A 4-byte addition; the old value comes back big endian (contract of mlx5).
template <class Ordering = OrderGpuFence, class P>
Posted PostFetchAdd32(P& port, const QpView& qp, RemoteSpan target, LocalSpan result,
                      uint32_t addend) {
  constexpr uint32_t kFourBytes = 0x08;
  return PostRaw<Ordering>(port, qp, abi::Opcode::kAtomicMaskedFetchAdd,
                           {abi::RemoteAddressOf(target.address, target.rkey),
                            {{abi::Swap32(addend), 0, 0, 0}},
                            abi::DataOf(4, result.lkey, result.address)},
                           kFourBytes);
}

template <class Ordering = OrderGpuFence, class P>
Completion WaitFor(P& port, const QpView& qp, const Posted& posted) {
  if (!posted.status.Ok()) return posted.status;
  Indices own;
  return WaitCompleted<Ordering>(port, qp, own, posted.confirmed);
}

}  // namespace ringpost
