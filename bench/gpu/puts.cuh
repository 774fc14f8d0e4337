// puts.cuh: a thread that puts 8 inline bytes again and again, through one Endpoint.
#pragma once

#include <cstdint>

#include "bench/gpu/measure.cuh"
#include "transport/endpoint.h"

namespace ringpost::bench {

template <class Publication, class Ordering, uint32_t Puts>
class PutsOfThread {
 public:
  __device__ PutsOfThread(CudaPort& port, const QpView& qp) : endpoint_(port, {&qp, 1, 0, 1, 0}) {}

  __device__ uint64_t Put(RemoteSpan target, uint64_t value) {
    Posted posted;
#pragma unroll 4
    for (uint32_t i = 0; i < Puts; ++i, ++value) {
      posted = endpoint_.PutInline(target, &value, sizeof(value));
    }
    return posted.confirmed;
  }

 private:
  Endpoint<CudaPort, Publication, Ordering> endpoint_;
};

}  // namespace ringpost::bench
