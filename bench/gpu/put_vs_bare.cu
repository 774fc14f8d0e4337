// put_vs_bare: what this library's put adds to the stores and fences that every put must have.
//
//   bazel run //bench/gpu:put_vs_bare
//
// Both store the same bytes of the same WQE, into a ring in GPU memory with a doorbell in pinned
// host memory, with the same fences; the bare kernel keeps its index in a register, and asks
// nobody whether there is room. The CQ counts as having completed everything: no thread waits.
// Every ordering policy, in the order of the table of docs/memory_model.md. Then what it takes to
// leave a value to a proxy: a slot in pinned host memory, against the one store that it is.
#include <algorithm>
#include <cstdio>

#include "bench/gpu/measure.cuh"
#include "bench/gpu/puts.cuh"
#include "bench/gpu/queue.cuh"
#include "transport/abi/inline_payload.h"
#include "transport/proxy/endpoint.h"
#include "transport/publication/batched.h"
#include "transport/publication/per_thread.h"

namespace ringpost::bench {
namespace {

constexpr uint32_t kDepth = 4096;

struct Queue {
  QpView qp;
  RemoteSpan target;
};

struct OnQueue {
  Queue bench;
  // Leaves no store outstanding, and L1 empty as an acquire does.
  __device__ void Prepare(CudaPort& port, uint32_t) const {
    port.Fence<Order::kSeqCst, Scope::kSystem>(bench.qp);
  }
};

enum class Calls : uint8_t { kOneAPut, kOneForAll };

// `Puts` puts, a doorbell for each batch, as the library does them.
template <class Publication, class Ordering, Calls Form, uint32_t Puts>
struct OurPuts : OnQueue {
  static constexpr uint32_t kSteps = Puts;
};

template <uint32_t Puts>
struct OurEnqueues : OnQueue {
  static constexpr uint32_t kSteps = Puts;
};

}  // namespace

template <class Publication, class Ordering, Calls Form, uint32_t Puts>
struct ThreadOf<OurPuts<Publication, Ordering, Form, Puts>>
    : PutsOfThread<Publication, Ordering, Puts> {
  using Op = OurPuts<Publication, Ordering, Form, Puts>;
  __device__ ThreadOf(const Op& op, CudaPort& port)
      : ThreadOf::PutsOfThread(port, op.bench.qp, op.bench.target) {}
  __device__ uint64_t Run(const Op&, CudaPort&, uint32_t repetition) {
    if constexpr (Form == Calls::kOneForAll) return this->PutMany(repetition);
    return this->Put(repetition);
  }
};

template <uint32_t Puts>
struct ThreadOf<OurEnqueues<Puts>> {
  __device__ ThreadOf(const OurEnqueues<Puts>& op, CudaPort& port)
      : endpoint(port, {&op.bench.qp, 1, 0, 1, 0}), target(op.bench.target) {
    const RegisterHold hold;
    hold.Keep(target.address);
    hold.Keep(target.rkey);
  }
  __device__ uint64_t Run(const OurEnqueues<Puts>&, CudaPort&, uint32_t repetition) {
    Posted posted;
    for (uint64_t i = 0; i < Puts; ++i) posted = endpoint.PutValue(target, repetition + i);
    return posted.confirmed;
  }
  Endpoint<CudaPort, Proxied<proxy::Tuned>, OrderSystemRelease> endpoint;
  RemoteSpan target;
};

namespace {

template <uint32_t Puts>
struct BareEnqueues : OnQueue {
  static constexpr uint32_t kSteps = Puts;
  __device__ uint64_t Run(CudaPort& port, uint32_t repetition) const {
    uint64_t index = uint64_t{repetition} * Puts;
    for (uint64_t i = 0; i < Puts; ++i, ++index) {
      const proxy::Slot slot = proxy::PutValueSlot(bench.target, repetition + i, sizeof(uint64_t));
      proxy::StoreSlot<Order::kRelaxed>(port, bench.qp, index, slot);
    }
    return index;
  }
};

// The same stores and fences, and nothing else.
template <class Ordering, uint32_t Batch, uint32_t Puts>
struct BarePuts : OnQueue {
  static constexpr uint32_t kSteps = Puts;
  __device__ uint64_t Run(CudaPort& port, uint32_t repetition) const {
    const QpView& qp = bench.qp;
    uint64_t index = uint64_t{repetition} * Puts;
    uint64_t value = repetition;
#pragma unroll 4
    for (uint32_t i = 0; i < Puts; ++i, ++value) {
      const bool rings = (i + 1) % Batch == 0;
      abi::Segment wqe[3];
      wqe[0] = abi::ControlSegmentOf(abi::Opcode::kRdmaWrite, index, qp.qpn, 3,
                                     rings ? abi::kCqeAlways : abi::kCqeOnError);
      wqe[1] = abi::RemoteAddressOf(bench.target.address, bench.target.rkey);
      abi::PackInline(wqe + 2, &value, sizeof(value));
      const uint64_t slot = qp.sq + (index & (kDepth - 1)) * abi::kWqebbBytes;
#pragma unroll
      for (uint32_t part = 0; part < 3; ++part) {
        CudaPort::StoreSegment(slot + part * abi::kSegmentBytes, wqe[part]);
      }
      ++index;
      if (!rings) continue;
      Ordering::Release(port, qp);
      Ordering::StoreRecord(port, qp, static_cast<uint32_t>(index & 0xffff));
      Ordering::Ring(port, qp, abi::ProducerDoorbell(index & 0xffff, qp.qpn));
    }
    return index;
  }
};

double NsOf(const Measured& measured, double clock_cost, uint32_t steps) {
  return 1e3 * (measured.median - clock_cost) / steps / measured.clock_mhz;
}

struct Nothing : OnQueue {
  __device__ uint64_t Run(CudaPort&, uint32_t) const { return 0; }
};

// Best of several, in turn, so that a disturbance of the machine strikes neither side alone.
template <class Ours, class Bare>
void Compare(const char* what, const char* ordering, const QpView& qp) {
  const Queue queue{qp, {0x7f0000001000, 0x1234}};
  double ours = 1e9, bare = 1e9, mhz = 0;
  for (int i = 0; i < 7; ++i) {
    const double clock = Measure(Nothing{{queue}}, 1).median;
    const Measured a = Measure(Ours{{queue}}, 1);
    const Measured b = Measure(Bare{{queue}}, 1);
    ours = std::min(ours, NsOf(a, clock, Ours::kSteps));
    bare = std::min(bare, NsOf(b, clock, Bare::kSteps));
    mhz = b.clock_mhz;
  }
  std::printf(
      "%-22s %-15s ours %7.1f ns (%6.3f M/s)  bare %7.1f ns (%6.3f M/s)  ours/bare %5.3f"
      "  (SM %.0f MHz)\n",
      what, ordering, ours, 1e3 / ours, bare, 1e3 / bare, ours / bare, mhz);
}

QpView Completed(uint32_t batch) {
  const QpView qp = MakeQueue(kDepth, batch, false, ZeroedMemory(In::kPinnedHost, 4096));
  CompleteEverything(qp);
  return qp;
}

// A ring whose worker has read all that will ever be in it.
QpView ReadRing() {
  QpView ring = MakeQueue(kDepth, 1, false, 0, In::kPinnedHost);
  ring.published = {ZeroedMemory(In::kPinnedHost, 128)};
  SetWord(ring.published.address, 1ull << 40);
  return ring;
}

template <class Ordering>
void CompareAll() {
  const char* name = Ordering::kName;
  constexpr Calls kEach = Calls::kOneAPut, kAll = Calls::kOneForAll;
  using BareSingle = BarePuts<Ordering, 1, 64>;
  using BareBatches = BarePuts<Ordering, 16, 64>;
  Compare<OurPuts<PerThread, Ordering, kEach, 1>, BarePuts<Ordering, 1, 1>>("issue, alone", name,
                                                                            Completed(1));
  Compare<OurPuts<PerThread, Ordering, kEach, 64>, BareSingle>("1 WQE a doorbell", name,
                                                               Completed(1));
  Compare<OurPuts<PerThread, Ordering, kAll, 64>, BareSingle>("1, in one call", name, Completed(1));
  Compare<OurPuts<Batched, Ordering, kEach, 64>, BareBatches>("16 WQEs a doorbell", name,
                                                              Completed(16));
  Compare<OurPuts<Batched, Ordering, kAll, 64>, BareBatches>("16, in one call", name,
                                                             Completed(16));
}

}  // namespace
}  // namespace ringpost::bench

int main() {
  using namespace ringpost;
  bench::SpinKernel<<<1, 1>>>(400'000'000);
  bench::CompareAll<OrderNone>();
  bench::CompareAll<OrderGpuFence>();
  bench::CompareAll<OrderGpuFenceDbrec>();
  bench::CompareAll<OrderGpuRelease>();
  bench::CompareAll<OrderThreadfence>();
  bench::CompareAll<OrderSystemRelease>();
  bench::CompareAll<OrderSystemFence>();
  bench::Compare<bench::OurEnqueues<1>, bench::BareEnqueues<1>>("enqueue, alone", "tuned",
                                                                bench::ReadRing());
  bench::Compare<bench::OurEnqueues<64>, bench::BareEnqueues<64>>("64 in turn", "tuned",
                                                                  bench::ReadRing());
  return 0;
}
