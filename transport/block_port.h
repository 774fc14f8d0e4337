// block_port.h: a whole CTA as one group that posts together.
//
//   BlockPort<CudaPort> block(port);
//   Endpoint<BlockPort<CudaPort>, Cooperative, Ordering> endpoint(block, table);
//   endpoint.Put(target, source);   // every thread of the CTA calls it, each with its own message
//
// To a policy that posts warp by warp the CTA is a warp of BlockSize() lanes. All threads of the
// CTA must be in the kernel, and on the same way through it, until its last operation.
#pragma once

#include <cstdint>

#include "transport/host_device.h"

namespace ringpost {

template <class P>
class BlockPort : public P {
 public:
  HOST_DEVICE explicit BlockPort(const P& port) : P(port) {}

  HOST_DEVICE uint32_t Lane() const { return P::ThreadInBlock(); }
  HOST_DEVICE uint32_t WarpSize() const { return P::BlockSize(); }
  HOST_DEVICE void SyncWarp() { P::SyncBlock(); }
  HOST_DEVICE uint64_t Shuffle(uint64_t value, uint32_t source) {
    return P::ShareInBlock(value, source);
  }
  // Not which ones: that would not fit.
  HOST_DEVICE uint32_t Ballot(bool vote) { return P::AnyInBlock(vote) ? 1 : 0; }
};

}  // namespace ringpost
