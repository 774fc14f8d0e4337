// One kernel for each operation and each policy pair: what nvcc makes of them is tested (ptx_test)
// and measured (//bench/gpu:registers). They are compiled, never launched.

#include "transport/cuda_port.cuh"
#include "transport/endpoint.h"
#include "transport/publication/pairs.h"

namespace ringpost {

template <class Publication, class Ordering>
using CudaEndpoint = Endpoint<CudaPort, Publication, Ordering>;

template <class Publication, class Ordering>
__global__ void PutInlineQuiet(const __grid_constant__ QpView qp, RemoteSpan target, uint64_t value,
                               Completion* done) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  CudaEndpoint<Publication, Ordering> endpoint(port, table);
  endpoint.PutInline(target, &value, sizeof(value));
  *done = endpoint.Quiet(CompletionScope::kSelectedQp);
}

template <class Publication, class Ordering>
__global__ void Put(const __grid_constant__ QpView qp, RemoteSpan target, LocalSpan source,
                    Posted* posted) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  *posted = CudaEndpoint<Publication, Ordering>(port, table).Put(target, source);
}

struct SignalledPut {
  RemoteSpan target;
  LocalSpan source;
  RemoteSpan signal;
  uint64_t value = 0;
};

template <class Publication, class Ordering>
__global__ void PutSignal(const __grid_constant__ QpView qp, SignalledPut put, Posted* posted) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  CudaEndpoint<Publication, Ordering> endpoint(port, table);
  *posted = endpoint.PutSignal(put.target, put.source, put.signal, put.value);
}

template <class Publication, class Ordering>
__global__ void Get(const __grid_constant__ QpView qp, LocalSpan target, RemoteSpan source,
                    Posted* posted) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  *posted = CudaEndpoint<Publication, Ordering>(port, table).Get(target, source);
}

// Naming a kernel instantiates it.
struct Instantiate {
  template <class Publication, class Ordering>
  void operator()() const {
    PutInlineQuiet<Publication, Ordering><<<1, 32>>>({}, {}, 0, nullptr);
    Put<Publication, Ordering><<<1, 32>>>({}, {}, {}, nullptr);
    PutSignal<Publication, Ordering><<<1, 32>>>({}, {}, nullptr);
    Get<Publication, Ordering><<<1, 32>>>({}, {}, {}, nullptr);
  }
};

void InstantiateAll() { ForEachPair(Instantiate{}); }

}  // namespace ringpost
