// memory_span.h: how kernels and host code name memory that a NIC can reach.
//
// Addresses are plain 64-bit numbers, as they stand in a WQE: a virtual address of this process
// on hardware, an address of the simulated machine in virtual time. Only a Port turns one into an
// access. Spans own nothing; the memory behind them belongs to whoever allocated it.
#pragma once

#include <cstdint>

#include "transport/host_device.h"

namespace ringpost {

// A naturally aligned word that several agents share.
template <class T>
struct Ref {
  uint64_t address = 0;
};

// Registered memory on this side. `bytes` may be zero.
struct LocalSpan {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t lkey = 0;
};

// Registered memory at the peer; the length is that of the local side.
struct RemoteSpan {
  uint64_t address = 0;
  uint32_t rkey = 0;
};

}  // namespace ringpost
