// raw_post.h: WQEs that the Endpoint does not build (yet), posted the way it posts its own.
#pragma once

#include "backends/sim/sim_port.h"
#include "transport/abi/wqe.h"
#include "transport/ordering.h"
#include "transport/publication/per_thread.h"

namespace ringpost {

// An 8-byte fetch-and-add; the old value goes to `result`.
inline Posted PostFetchAdd(SimPort& port, const QpView& qp, RemoteSpan target, LocalSpan result,
                           uint64_t addend) {
  return PerThread::Post<OrderGpuFence>(port, qp, {1, 0}, [&](uint64_t index, uint8_t flags) {
    const uint64_t big = abi::Swap64(addend);
    const abi::Segment wqe[4] = {
        abi::ControlSegmentOf(abi::Opcode::kAtomicFetchAdd, index & abi::kIndexMask, qp.qpn, 4,
                              flags),
        abi::RemoteAddressOf(target.address, target.rkey),
        {{static_cast<uint32_t>(big), static_cast<uint32_t>(big >> 32), 0, 0}},
        abi::DataOf(8, result.lkey, result.address)};
    port.StoreWqe(qp, index, wqe, 4);
  });
}

inline Completion WaitFor(SimPort& port, const QpView& qp, const Posted& posted) {
  if (!posted.status.Ok()) return posted.status;
  return WaitCompleted<OrderGpuFence>(port, qp, posted.confirmed);
}

}  // namespace ringpost
