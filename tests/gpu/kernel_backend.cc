#include "tests/gpu/kernel_backend.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <type_traits>
#include <utility>

#include "transport/memory/gpu_agent.h"

namespace ringpost::conformance {

using gpu_test::Answer;
using gpu_test::Call;
using gpu_test::CallKind;
using gpu_test::Mailbox;

namespace {

constexpr std::chrono::seconds kHangGuard{30};

[[noreturn]] void Fatal(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

template <class T>
T OrDie(Result<T> result) {
  if (!result.Ok()) Fatal(result.Message());
  return std::move(result.Value());
}

class KernelEndpoint final : public AnyEndpoint {
 public:
  KernelEndpoint(KernelThread& thread, const std::string& publication, const std::string& ordering,
                 bool block_wide, const QpTable& table)
      : thread_(thread), slot_(thread.Make(publication, ordering, block_wide, table)) {}
  ~KernelEndpoint() override { thread_.Drop(slot_); }

  Posted Put(RemoteSpan target, LocalSpan source) override {
    return Post(CallKind::kPut, target, source);
  }
  Posted PutInline(RemoteSpan target, const void* payload, uint32_t bytes) override {
    Call& call = Next(CallKind::kPutInline, target);
    call.bytes = bytes;
    if (bytes != 0) std::memcpy(call.payload, payload, std::min(bytes, Call::kMostBytes));
    return thread_.Ask().posted;
  }
  Posted PutSignal(RemoteSpan target, LocalSpan source, RemoteSpan signal,
                   uint64_t value) override {
    Call& call = Next(CallKind::kPutSignal, target, source, value);
    call.signal = signal;
    return thread_.Ask().posted;
  }
  Posted PutValue(RemoteSpan target, uint64_t value, uint32_t bytes) override {
    Next(CallKind::kPutValue, target, {}, value).bytes = bytes;
    return thread_.Ask().posted;
  }
  Posted PutValues(RemoteSpan target, uint64_t first, uint32_t count) override {
    Next(CallKind::kPutValues, target, {}, first).bytes = 8 * count;
    return thread_.Ask().posted;
  }
  Posted PutImmediate(RemoteSpan target, LocalSpan source, uint32_t immediate) override {
    return Post(CallKind::kPutImmediate, target, source, immediate);
  }
  Posted Signal(RemoteSpan signal, uint64_t addend) override {
    Next(CallKind::kSignal, {}, {}, addend).signal = signal;
    return thread_.Ask().posted;
  }
  Posted Get(LocalSpan target, RemoteSpan source) override {
    return Post(CallKind::kGet, source, target);
  }
  Posted FetchAdd(LocalSpan result, RemoteSpan target, uint64_t addend) override {
    return Post(CallKind::kFetchAdd, target, result, addend);
  }
  Posted CompareSwap(LocalSpan result, RemoteSpan target, uint64_t compare,
                     uint64_t swap) override {
    Next(CallKind::kCompareSwap, target, result, compare).other = swap;
    return thread_.Ask().posted;
  }
  Posted Send(LocalSpan source) override { return Post(CallKind::kSend, {}, source); }
  Posted SendImmediate(LocalSpan source, uint32_t immediate) override {
    return Post(CallKind::kSendImmediate, {}, source, immediate);
  }
  Completion Wait(const Posted& posted) override {
    Next(CallKind::kWait).posted = posted;
    return thread_.Ask().posted.status;
  }
  Completion Flush() override { return Post(CallKind::kFlush).status; }
  Completion Quiet(CompletionScope scope) override {
    Next(CallKind::kQuiet).scope = scope;
    return thread_.Ask().posted.status;
  }
  Completion Fence() override { return Post(CallKind::kFence).status; }
  Completion WaitSignal(Ref<uint64_t> word, uint64_t value) override {
    Next(CallKind::kWaitSignal, {}, {}, value).address = word.address;
    return thread_.Ask().posted.status;
  }

 private:
  Call& Next(CallKind kind, RemoteSpan remote = {}, LocalSpan local = {}, uint64_t value = 0) {
    Call& call = thread_.Next(kind);
    call.slot = slot_;
    call.remote = remote;
    call.local = local;
    call.value = value;
    return call;
  }
  Posted Post(CallKind kind, RemoteSpan remote = {}, LocalSpan local = {}, uint64_t value = 0) {
    Next(kind, remote, local, value);
    return thread_.Ask().posted;
  }

  KernelThread& thread_;
  const uint32_t slot_;
};

class KernelReceives final : public AnyReceives {
 public:
  KernelReceives(KernelThread& thread, const QpView& qp, const ReceiveView& queue)
      : thread_(thread) {
    thread.Box().receiving = qp;
    thread.Box().receives = queue;
  }
  Completion Post(LocalSpan buffer) override {
    thread_.Next(CallKind::kReceive).local = buffer;
    return thread_.Ask().posted.status;
  }
  Received Wait() override {
    thread_.Next(CallKind::kWaitReceive);
    return thread_.Ask().received;
  }

 private:
  KernelThread& thread_;
};

template <class Publication, class Ordering, bool block_wide>
PairOf<KernelThread> KernelPair(TransportKind kind) {
  PairOf<KernelThread> pair;
  pair.kind = kind;
  pair.publication = Publication::kName;
  pair.ordering = Ordering::kName;
  pair.block_wide = block_wide;
  pair.warp_wide = Publication::kWarpWide;
  pair.shares_qp = Publication::kSharesQp;
  pair.host_placement = kSafeForHostPlacement<Ordering>;
  pair.make = [](KernelThread& thread, const QpTable& table) -> std::unique_ptr<AnyEndpoint> {
    return std::make_unique<KernelEndpoint>(thread, Publication::kName, Ordering::kName, block_wide,
                                            table);
  };
  pair.receives = [](KernelThread& thread, const QpView& qp,
                     const ReceiveView& queue) -> std::unique_ptr<AnyReceives> {
    return std::make_unique<KernelReceives>(thread, qp, queue);
  };
  return pair;
}

}  // namespace

// Some threads of one kernel, and their mailboxes.
class KernelLaunch {
 public:
  KernelLaunch(CudaMemory& memory, const Shape& shape,
               std::function<void(KernelThread&, uint32_t)> kernel)
      : memory_(memory), shape_(shape), kernel_(std::move(kernel)) {
    room_ = OrDie(memory.Allocate(Placement::kHost, sizeof(Mailbox) * shape.threads));
    boxes_ = reinterpret_cast<Mailbox*>(room_.address);
    for (uint32_t i = 0; i < shape.threads; ++i) new (&boxes_[i]) Mailbox;
  }
  ~KernelLaunch() { memory_.Free(room_); }

  uint32_t Threads() const { return shape_.threads; }
  void RunThread(uint32_t i, const std::atomic<bool>& stop) {
    KernelThread thread(*this, boxes_[i], stop);
    kernel_(thread, i);
    thread.End();
  }
  // By the first thread that comes; all see whether it runs.
  bool Start(const std::string& publication, const std::string& ordering, bool block_wide) {
    std::call_once(once_, [&] {
      refusal_ = server_.Start(publication, ordering,
                               {shape_.threads / shape_.block, shape_.block, block_wide}, boxes_);
    });
    return refusal_.empty();
  }
  std::string Finish() { return refusal_.empty() ? server_.Finish() : refusal_; }

 private:
  CudaMemory& memory_;
  const Shape shape_;
  const std::function<void(KernelThread&, uint32_t)> kernel_;
  Allocation room_;
  Mailbox* boxes_ = nullptr;
  gpu_test::CallServer server_;
  std::once_flag once_;
  std::string refusal_;
};

Call& KernelThread::Next(CallKind kind) {
  box_.call.kind = kind;
  return box_.call;
}

const Answer& KernelThread::Ask() {
  none_.posted.status.status = Status::kTimeout;
  none_.received.status.status = Status::kTimeout;
  if (stop_) return none_;
  std::atomic_ref<uint64_t>(box_.asked).store(++asked_, std::memory_order_release);
  const std::atomic_ref<uint64_t> answered(box_.answered);
  while (answered.load(std::memory_order_acquire) != asked_) {
    if (stop_) return none_;
    std::this_thread::yield();
  }
  return box_.answer;
}

uint32_t KernelThread::Make(const std::string& publication, const std::string& ordering,
                            bool block_wide, const QpTable& table) {
  if (!launch_.Start(publication, ordering, block_wide)) return 0;
  const auto slot = static_cast<uint32_t>(std::countr_one(slots_));
  if (slot >= Mailbox::kSlots || table.count > Mailbox::kQps) Fatal("too many Endpoints or QPs");
  slots_ |= 1u << slot;
  std::copy_n(table.views, table.count, box_.views[slot]);
  QpTable& its = box_.tables[slot];
  std::memcpy(static_cast<void*>(&its), &table, sizeof(its));
  its.views = box_.views[slot];
  Next(CallKind::kMake).slot = slot;
  Ask();
  return slot;
}

void KernelThread::Drop(uint32_t slot) {
  slots_ &= ~(1u << slot);
  Next(CallKind::kDrop).slot = slot;
  Ask();
}

void KernelThread::End() {
  Next(CallKind::kEnd);
  // Not Ask: it is told also where the test has stopped.
  std::atomic_ref<uint64_t>(box_.asked).store(asked_ + 1, std::memory_order_release);
}

void KernelThread::LoadPayload(void* target, uint64_t address, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += Call::kMostBytes) {
    const uint64_t part = std::min<uint64_t>(bytes - done, Call::kMostBytes);
    Call& call = Next(CallKind::kLoadPayload);
    call.address = address + done;
    call.bytes = static_cast<uint32_t>(part);
    std::memcpy(static_cast<char*>(target) + done, Ask().payload, part);
  }
}

void KernelThread::StorePayload(uint64_t address, const void* source, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += Call::kMostBytes) {
    const uint64_t part = std::min<uint64_t>(bytes - done, Call::kMostBytes);
    Call& call = Next(CallKind::kStorePayload);
    call.address = address + done;
    call.bytes = static_cast<uint32_t>(part);
    std::memcpy(call.payload, static_cast<const char*>(source) + done, part);
    Ask();
  }
}

uint64_t KernelThread::Now() {
  Next(CallKind::kNow);
  return Ask().value;
}

const std::vector<PairOf<KernelThread>>& KernelBackend::Pairs() {
  static const std::vector<PairOf<KernelThread>> pairs = [] {
    std::vector<PairOf<KernelThread>> made;
    for (const auto kind : {TransportKind::kRc, TransportKind::kDc}) {
      ForEachPair([&]<class Publication, class Ordering>() {
        if constexpr (!std::is_same_v<Ordering, OrderNone>) {
          made.push_back(KernelPair<Publication, Ordering, false>(kind));
          if (Publication::kWarpWide) {
            made.push_back(KernelPair<Publication, Ordering, true>(kind));
          }
        }
      });
    }
    return made;
  }();
  return pairs;
}

KernelBackend::~KernelBackend() = default;

CudaMemory& KernelBackend::Memory() {
  static CudaMemory memory(0);
  return memory;
}

void KernelBackend::Launch(uint32_t, const Shape& shape,
                           std::function<void(P&, uint32_t thread)> kernel) {
  launches_.push_back(std::make_unique<KernelLaunch>(Memory(), shape, std::move(kernel)));
}

std::string KernelBackend::NicFailure() {
  for (uint32_t node = 0; node < 2; ++node) {
    if (!nic(node).Failure().empty()) return nic(node).Failure();
  }
  return "";
}

std::string KernelBackend::Run() {
  std::mutex mutex;
  std::condition_variable changed;
  size_t running = 0;
  std::vector<std::thread> threads;
  for (const auto& launch : launches_) running += launch->Threads();
  for (const auto& launch : launches_) {
    for (uint32_t i = 0; i < launch->Threads(); ++i) {
      threads.emplace_back([&, i, one = launch.get()] {
        one->RunThread(i, stop_);
        const std::lock_guard<std::mutex> lock(mutex);
        --running;
        changed.notify_all();
      });
    }
  }
  bool ended = false;
  {
    std::unique_lock<std::mutex> lock(mutex);
    ended = changed.wait_until(lock, std::chrono::steady_clock::now() + kHangGuard,
                               [&] { return running == 0; });
  }
  stop_ = !ended;
  for (std::thread& thread : threads) thread.join();
  std::string wrong = ended ? "" : "threads had not ended after 30 s";
  for (const auto& launch : launches_) {
    const std::string said = launch->Finish();
    if (wrong.empty()) wrong = said;
  }
  launches_.clear();
  return wrong.empty() ? NicFailure() : wrong;
}

void KernelBackend::Write(uint64_t address, const void* bytes, uint64_t size) {
  OrDie(Memory().Copy(address, reinterpret_cast<uint64_t>(bytes), size));
}

void KernelBackend::Read(uint64_t address, void* bytes, uint64_t size) {
  OrDie(Memory().Copy(reinterpret_cast<uint64_t>(bytes), address, size));
}

LiveKernelBackend::LiveKernelBackend(const Conditions&) {
  LiveNicOptions options;
  options.memory = &Memory();
  options.gpu_kernels = true;
  options.reach_gpu = [] { return StartGpuAgent(0, Memory()); };
  fabric_ = OrDie(LiveFabric::Make(2, options));
}
LiveKernelBackend::~LiveKernelBackend() = default;

void LiveKernelBackend::Fail(const QpView& qp, uint32_t node, uint64_t wqe,
                             abi::Syndrome syndrome) {
  OrDie(fabric_->nic(node).InjectError(qp.qpn, wqe, syndrome));
}

Mlx5KernelBackend::Mlx5KernelBackend(const Conditions&) {
  for (uint32_t node = 0; node < 2; ++node) {
    Mlx5NicOptions options;
    options.memory = &Memory();
    options.gpu_kernels = true;
    options.device.number = node;
    // Where there are two ports of these names, each node has its own.
    options.device.devices = {"mlx5_0", "mlx5_1"};
    auto nic = Mlx5Nic::Open(options);
    options.device.devices.clear();
    nics_[node] = nic.Ok() ? std::move(nic.Value()) : OrDie(Mlx5Nic::Open(options));
  }
}
Mlx5KernelBackend::~Mlx5KernelBackend() = default;

}  // namespace ringpost::conformance
