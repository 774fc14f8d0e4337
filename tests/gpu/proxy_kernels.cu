// The operations of a proxy's producers, a kernel each: what nvcc makes of them is tested
// (proxy_ptx_test). They are compiled, never launched.

#include "transport/cuda_port.cuh"
#include "transport/proxy/endpoint.h"
#include "transport/proxy/pairs.h"

namespace ringpost {

template <class Handoff, class Ordering>
using CudaEndpoint = Endpoint<CudaPort, Proxied<Handoff>, Ordering>;

// The loop's body is one enqueue as a stream of them has it.
template <class Handoff, class Ordering>
__global__ void EnqueueValues(const __grid_constant__ QpView ring, RemoteSpan target,
                              uint64_t puts) {
  CudaPort port;
  const QpTable table{&ring, 1, 0, 1, 0};
  CudaEndpoint<Handoff, Ordering> endpoint(port, table);
  for (uint64_t i = 0; i < puts; ++i) endpoint.PutValue(target, i);
}

template <class Handoff, class Ordering>
__global__ void EnqueuePut(const __grid_constant__ QpView ring, RemoteSpan target, LocalSpan source,
                           Posted* posted) {
  CudaPort port;
  const QpTable table{&ring, 1, 0, 1, 0};
  *posted = CudaEndpoint<Handoff, Ordering>(port, table).Put(target, source);
}

template <class Handoff, class Ordering>
__global__ void EnqueueRest(const __grid_constant__ QpView ring, RemoteSpan target, LocalSpan local,
                            Completion* done) {
  CudaPort port;
  const QpTable table{&ring, 1, 0, 1, 0};
  CudaEndpoint<Handoff, Ordering> endpoint(port, table);
  endpoint.Get(local, target);
  endpoint.FetchAdd(local, target, 1);
  endpoint.PutSignal(target, local, target, 1);
  endpoint.Signal(target, 1);
  endpoint.Fence();
  *done = endpoint.Wait(endpoint.SendImmediate(local, 1));
  endpoint.Test(endpoint.FlushLater(), done);
  endpoint.WaitSignal({local.address}, 1);
}

// Instantiates the kernels of one hand-off.
struct Instances {
  const void* kernels[3];
};
Instances KernelsOf(bool tuned) {
  Instances found{};
  VisitHandoff(tuned ? "tuned" : "baseline", [&]<class Publication, class Ordering>() {
    using Handoff = typename Publication::Handoff;
    found = {{reinterpret_cast<const void*>(&EnqueueValues<Handoff, Ordering>),
              reinterpret_cast<const void*>(&EnqueuePut<Handoff, Ordering>),
              reinterpret_cast<const void*>(&EnqueueRest<Handoff, Ordering>)}};
  });
  return found;
}

}  // namespace ringpost
