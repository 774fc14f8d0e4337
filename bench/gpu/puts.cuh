// puts.cuh: a thread that puts 8 inline bytes again and again, through one Endpoint.
#pragma once

#include <cstdint>

#include "bench/gpu/measure.cuh"
#include "transport/endpoint.h"

namespace ringpost::bench {

template <class Publication, class Ordering, uint32_t Puts>
class PutsOfThread {
 public:
  __device__ PutsOfThread(CudaPort& port, const QpView& qp, RemoteSpan target)
      : endpoint_(port, {&qp, 1, 0, 1, 0}), target_(target) {
    const RegisterHold hold;
    hold.Keep(target_.address);
    hold.Keep(target_.rkey);
  }

  __device__ uint64_t Put(uint64_t value) {
    Posted posted;
#pragma unroll 4
    for (uint32_t i = 0; i < Puts; ++i, ++value) {
      posted = endpoint_.PutInline(target_, &value, sizeof(value));
    }
    return posted.confirmed;
  }

  // The same in one call.
  __device__ uint64_t PutMany(uint64_t value) {
    const RemoteSpan target = target_;
    return endpoint_
        .PutValues(Puts,
                   [=](uint32_t i) {
                     return ValuePut<uint64_t>{target, value + i};
                   })
        .confirmed;
  }

 private:
  Endpoint<CudaPort, Publication, Ordering> endpoint_;
  RemoteSpan target_;  // in a register, as a caller has it
};

}  // namespace ringpost::bench
