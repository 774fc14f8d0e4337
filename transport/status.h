// status.h: what an operation or a wait can come back with.
//
// A code exists only if a caller can act on it. Device code returns these as values; nothing
// throws. The syndromes are those of the error CQE (mlx5 PRM, "Error Syndromes").
#pragma once

#include <cstdint>

#include "transport/host_device.h"

namespace ringpost {

enum class Status : uint8_t {
  kOk = 0,
  kTimeout,          // the deadline passed; the operation may still complete
  kErrorCompletion,  // the NIC wrote an error CQE: see Completion; the QP is in the error state
  kInvalidArgument,  // the call cannot work: nothing was posted
  kCancelled,        // the run is being taken down: return from the kernel
};

// The outcome of a wait. `wqe_index` is the 64-bit index of the WQE it speaks of, counted in
// WQEBBs since the QP was created; the syndromes are valid for kErrorCompletion alone.
struct Completion {
  Status status = Status::kOk;
  uint8_t syndrome = 0;
  uint8_t vendor_syndrome = 0;
  uint32_t qpn = 0;
  uint64_t wqe_index = 0;

  HOST_DEVICE bool Ok() const { return status == Status::kOk; }
};

}  // namespace ringpost
