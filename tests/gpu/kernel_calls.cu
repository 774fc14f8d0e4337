#include "tests/gpu/kernel_calls.h"

#include <cuda_runtime.h>

#include <cstring>
#include <new>
#include <string>

#include "transport/block_port.h"
#include "transport/cuda_port.cuh"
#include "transport/publication/pairs.h"

namespace ringpost::gpu_test {
namespace {

constexpr uint64_t kIdlePs = 60'000'000'000'000;  // who asks nothing for a minute is gone

// An Endpoint that is there or not.
template <class E>
class Slot {
 public:
  template <class P>
  __device__ void Make(P& port, const QpTable& table) {
    new (room_) E(port, table);
  }
  __device__ E& Get() { return *reinterpret_cast<E*>(room_); }
  __device__ void Drop() { Get().~E(); }

 private:
  alignas(E) unsigned char room_[sizeof(E)];
};

// The next call; false: none comes any more.
__device__ bool Await(CudaPort& port, Mailbox& box, uint64_t served) {
  const uint64_t asked = reinterpret_cast<uint64_t>(&box.asked);
  const uint64_t deadline = port.Now() + kIdlePs;
  // Acquire: the call was written before `asked`.
  while (port.Load<Order::kAcquire, Scope::kSystem>(Ref<uint64_t>{asked}) == served) {
    CudaPort::LetOtherLanesRun();
    if (port.Now() > deadline) return false;
  }
  return true;
}

template <class E>
__device__ Posted PostValue(E& endpoint, const Call& call) {
  if (call.bytes == 1) return endpoint.PutValue(call.remote, static_cast<uint8_t>(call.value));
  if (call.bytes == 2) return endpoint.PutValue(call.remote, static_cast<uint16_t>(call.value));
  if (call.bytes == 4) return endpoint.PutValue(call.remote, static_cast<uint32_t>(call.value));
  return endpoint.PutValue(call.remote, call.value);
}

template <class E>
__device__ Posted PostValues(E& endpoint, const Call& call) {
  const RemoteSpan target = call.remote;
  const uint64_t first = call.value;
  return endpoint.PutValues(call.bytes / 8, [=](uint32_t i) {
    return ValuePut<uint64_t>{{target.address + 8 * i, target.rkey}, first + i};
  });
}

template <class E>
__device__ Posted PostOne(E& endpoint, const Call& call) {
  const auto small = static_cast<uint32_t>(call.value);
  switch (call.kind) {
    case CallKind::kPut:
      return endpoint.Put(call.remote, call.local);
    case CallKind::kPutInline:
      return endpoint.PutInline(call.remote, call.payload, call.bytes);
    case CallKind::kPutSignal:
      return endpoint.PutSignal(call.remote, call.local, call.signal, call.value);
    case CallKind::kPutValue:
      return PostValue(endpoint, call);
    case CallKind::kPutValues:
      return PostValues(endpoint, call);
    case CallKind::kPutImmediate:
      return endpoint.PutImmediate(call.remote, call.local, small);
    case CallKind::kSignal:
      return endpoint.Signal(call.signal, call.value);
    case CallKind::kGet:
      return endpoint.Get(call.local, call.remote);
    case CallKind::kFetchAdd:
      return endpoint.FetchAdd(call.local, call.remote, call.value);
    case CallKind::kCompareSwap:
      return endpoint.CompareSwap(call.local, call.remote, call.value, call.other);
    case CallKind::kSend:
      return endpoint.Send(call.local);
    default:
      return endpoint.SendImmediate(call.local, small);
  }
}

template <class E>
__device__ Completion WaitFor(E& endpoint, const Call& call) {
  switch (call.kind) {
    case CallKind::kWait:
      return endpoint.Wait(call.posted);
    case CallKind::kFlush:
      return endpoint.Flush();
    case CallKind::kQuiet:
      return endpoint.Quiet(call.scope);
    case CallKind::kFence:
      return endpoint.Fence();
    default:
      return endpoint.WaitSignal({call.address}, call.value);
  }
}

// What needs no Endpoint.
template <class Ordering>
__device__ void Serve(CudaPort& port, Mailbox& box) {
  const Call& call = box.call;
  ReceiveQueue<CudaPort, Ordering> receives(port, box.receiving, box.receives);
  switch (call.kind) {
    case CallKind::kReceive:
      box.answer.posted.status = receives.Post(call.local);
      break;
    case CallKind::kWaitReceive:
      box.answer.received = receives.Wait();
      break;
    case CallKind::kLoadPayload:
      port.LoadPayload(box.answer.payload, call.address, call.bytes);
      break;
    case CallKind::kStorePayload:
      port.StorePayload(call.address, call.payload, call.bytes);
      break;
    default:
      box.answer.value = port.Now();
  }
}

template <class P, class Publication, class Ordering>
__global__ void AnswerCalls(Mailbox* mailboxes) {
  using E = Endpoint<P, Publication, Ordering>;
  CudaPort own;
  P port(own);
  Mailbox& box = mailboxes[blockIdx.x * blockDim.x + threadIdx.x];
  Slot<E> slots[Mailbox::kSlots];
  for (uint64_t served = 0; Await(own, box, served); ++served) {
    const Call& call = box.call;
    Slot<E>& slot = slots[call.slot];
    if (call.kind == CallKind::kMake) {
      slot.Make(port, box.tables[call.slot]);
    } else if (call.kind == CallKind::kDrop) {
      slot.Drop();
    } else if (call.kind < CallKind::kWait) {
      box.answer.posted = PostOne(slot.Get(), call);
    } else if (call.kind < CallKind::kReceive) {
      box.answer.posted.status = WaitFor(slot.Get(), call);
    } else if (call.kind != CallKind::kEnd) {
      Serve<Ordering>(own, box);
    }
    const bool ends = call.kind == CallKind::kEnd;
    // Release: the answer comes before `answered`.
    own.Store<Order::kRelease, Scope::kSystem>(
        Ref<uint64_t>{reinterpret_cast<uint64_t>(&box.answered)}, served + 1);
    if (ends) break;
  }
}

std::string Text(cudaError_t error) {
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

}  // namespace

std::string CallServer::Start(const std::string& publication, const std::string& ordering,
                              const KernelShape& shape, Mailbox* mailboxes) {
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaSetDevice(0);
  if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error != cudaSuccess) return Text(error);
  stream_ = stream;
  bool built = false;
  VisitPair(publication, ordering, [&]<class Publication, class Ordering>() {
    if constexpr (!std::is_same_v<Ordering, OrderNone>) {
      built = true;
      if constexpr (Publication::kWarpWide) {
        if (shape.block_wide) {
          AnswerCalls<BlockPort<CudaPort>, Publication, Ordering>
              <<<shape.blocks, shape.threads, 0, stream>>>(mailboxes);
          return;
        }
      }
      AnswerCalls<CudaPort, Publication, Ordering>
          <<<shape.blocks, shape.threads, 0, stream>>>(mailboxes);
    }
  });
  return built ? Text(cudaGetLastError()) : "no kernel of " + publication + " with " + ordering;
}

std::string CallServer::Finish() {
  if (stream_ == nullptr) return "";
  return Text(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)));
}

CallServer::~CallServer() {
  if (stream_ != nullptr) cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

}  // namespace ringpost::gpu_test
