// One kernel for each operation and each policy pair: what nvcc makes of them is tested (ptx_test)
// and measured (//bench/gpu:registers). They are compiled, never launched.

#include <type_traits>

#include "transport/block_port.h"
#include "transport/cuda_port.cuh"
#include "transport/endpoint.h"
#include "transport/publication/pairs.h"
#include "transport/receive_queue.h"

namespace ringpost {

template <class Publication, class Ordering>
using CudaEndpoint = Endpoint<CudaPort, Publication, Ordering>;

template <class Publication, class Ordering>
__global__ void PutInlineQuiet(const __grid_constant__ QpView qp, RemoteSpan target, uint64_t value,
                               Completion* done) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  CudaEndpoint<Publication, Ordering> endpoint(port, table);
  endpoint.PutValue(target, value);
  *done = endpoint.Quiet(CompletionScope::kSelectedQp);
}

template <class Publication, class Ordering>
__global__ void Put(const __grid_constant__ QpView qp, RemoteSpan target, LocalSpan source,
                    Posted* posted) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  *posted = CudaEndpoint<Publication, Ordering>(port, table).Put(target, source);
}

template <class Publication, class Ordering>
__global__ void PutStream(const __grid_constant__ QpView qp, RemoteSpan target, uint64_t puts) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  CudaEndpoint<Publication, Ordering> endpoint(port, table);
  for (uint64_t i = 0; i < puts; ++i) endpoint.PutValue(target, i);
}

template <class Publication, class Ordering>
__global__ void PutValues(const __grid_constant__ QpView qp, RemoteSpan target, uint32_t puts) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  CudaEndpoint<Publication, Ordering> endpoint(port, table);
  endpoint.PutValues(puts, [=](uint32_t i) { return ValuePut<uint64_t>{target, i}; });
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

template <class Publication, class Ordering>
__global__ void FetchAdd(const __grid_constant__ QpView qp, LocalSpan result, RemoteSpan target,
                         Posted* posted) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  *posted = CudaEndpoint<Publication, Ordering>(port, table).FetchAdd(result, target, 1);
}

template <class Publication, class Ordering>
__global__ void Send(const __grid_constant__ QpView qp, LocalSpan source, Posted* posted) {
  CudaPort port;
  const QpTable table{&qp, 1, 0, 1, 0};
  *posted = CudaEndpoint<Publication, Ordering>(port, table).Send(source);
}

// The publication is only a name here: a receive is posted by one thread.
template <class Publication, class Ordering>
__global__ void Receive(const __grid_constant__ QpView qp,
                        const __grid_constant__ ReceiveView queue, LocalSpan buffer,
                        Received* message) {
  CudaPort port;
  ReceiveQueue<CudaPort, Ordering> receives(port, qp, queue);
  receives.Post(buffer);
  *message = receives.Wait();
}

template <class Publication, class Ordering>
__global__ void BlockPut(const __grid_constant__ QpView qp, RemoteSpan target, LocalSpan source,
                         Posted* posted) {
  CudaPort port;
  BlockPort<CudaPort> block(port);
  const QpTable table{&qp, 1, 0, 1, 0};
  Endpoint<BlockPort<CudaPort>, Publication, Ordering> endpoint(block, table);
  *posted = endpoint.Put(target, source);
}

// Naming a kernel instantiates it.
struct Instantiate {
  template <class Publication, class Ordering>
  void operator()() const {
    PutInlineQuiet<Publication, Ordering><<<1, 32>>>({}, {}, 0, nullptr);
    Put<Publication, Ordering><<<1, 32>>>({}, {}, {}, nullptr);
    PutStream<Publication, Ordering><<<1, 32>>>({}, {}, 0);
    PutSignal<Publication, Ordering><<<1, 32>>>({}, {}, nullptr);
    Get<Publication, Ordering><<<1, 32>>>({}, {}, {}, nullptr);
    // What differs from these is what differs between puts.
    if constexpr (std::is_same_v<Publication, PerThread>) {
      PutValues<Publication, Ordering><<<1, 32>>>({}, {}, 0);
      FetchAdd<Publication, Ordering><<<1, 32>>>({}, {}, {}, nullptr);
      Send<Publication, Ordering><<<1, 32>>>({}, {}, nullptr);
      Receive<Publication, Ordering><<<1, 1>>>({}, {}, {}, nullptr);
    }
    if constexpr (Publication::kWarpWide) {
      BlockPut<Publication, Ordering><<<1, 256>>>({}, {}, {}, nullptr);
    }
  }
};

void InstantiateAll() { ForEachPair(Instantiate{}); }

}  // namespace ringpost
