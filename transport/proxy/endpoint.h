// endpoint.h: the operations of transport/endpoint.h by way of a proxy: they leave a descriptor in
// a ring in host memory, and a worker on the host posts.
//
//   Endpoint<SimPort, Proxied<proxy::Tuned>, OrderSystemRelease> endpoint(port, rings, selected);
//   endpoint.Wait(endpoint.PutInline(target, &value, sizeof(value)));
//
// What stands at transport/endpoint.h holds here, with rings (ProxyNic::View) instead of queue
// pairs, and but for this: it serves one thread, whose `Posted::confirmed` counts slots; an
// operation that the worker's NIC refuses is told of by the waits alone; and FlushLater and Test
// wait for nobody. A ring of Tuned is one thread's at a time, one of Baseline any number's. An
// ordering is for memory of this side that an operation reads: of system scope, as the worker is
// outside any other; OrderNone is the unsafe control. Values up to 8 bytes of a Tuned ring need
// none.
#pragma once

#include "transport/endpoint.h"
#include "transport/proxy/enqueue.h"

namespace ringpost {

// In the place of a publication policy.
template <class HandoffPolicy>
struct Proxied {
  using Handoff = HandoffPolicy;
  static constexpr const char* kName = Handoff::kName;
  static constexpr bool kWarpWide = false;
  static constexpr bool kSharesQp = Handoff::kSharesRing;
  static constexpr bool kBatches = false;
};

template <class P, class Handoff, class Ordering>
class Endpoint<P, Proxied<Handoff>, Ordering> {
  static_assert(Ordering::kScope == Scope::kSystem || Ordering::kScope == Scope::kThread);

 public:
  HOST_DEVICE Endpoint(P& port, const QpTable& table)
      : table_(table), enqueuer_(port, table.views[table.selected]) {}
  HOST_DEVICE void GiveBack() { enqueuer_.GiveBack(); }

  HOST_DEVICE Posted Put(RemoteSpan target, LocalSpan source) {
    return enqueuer_.Move(proxy::Operation::kPut, target, source);
  }
  HOST_DEVICE Posted PutInline(RemoteSpan target, const void* payload, uint32_t bytes) {
    enqueuer_.Port().GatherInline(bytes);
    if (bytes > sizeof(uint64_t)) return enqueuer_.PutInline(target, payload, bytes);
    return enqueuer_.PutWord(target, proxy::FirstWord(payload, bytes), bytes);
  }
  template <class T>
  HOST_DEVICE Posted PutValue(RemoteSpan target, T value) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
    uint64_t word = 0;
    memcpy(&word, &value, sizeof(T));
    return enqueuer_.PutWord(target, word, sizeof(T));
  }
  template <class Next>
  HOST_DEVICE Posted PutValues(uint32_t count, Next next) {
    Posted last;
    for (uint32_t i = 0; i < count && last.status.Ok(); ++i) {
      const auto put = next(i);
      last = PutValue(put.target, put.value);
    }
    return last;
  }
  HOST_DEVICE Posted PutSignal(RemoteSpan target, LocalSpan source, RemoteSpan signal,
                               uint64_t value) {
    const Posted put = Put(target, source);
    return put.status.Ok() ? enqueuer_.PutWord(signal, value, sizeof(value)) : put;
  }
  HOST_DEVICE Posted PutSignalAdd(RemoteSpan target, LocalSpan source, RemoteSpan signal,
                                  uint64_t addend) {
    const Posted put = Put(target, source);
    return put.status.Ok() ? Signal(signal, addend) : put;
  }
  HOST_DEVICE Posted PutValueSignalAdd(RemoteSpan target, uint64_t value, RemoteSpan signal,
                                       uint64_t addend) {
    const Posted put = PutValue(target, value);
    return put.status.Ok() ? Signal(signal, addend) : put;
  }
  HOST_DEVICE Posted Signal(RemoteSpan signal, uint64_t addend) {
    return Atomic(proxy::Operation::kSignal, {0, kAtomicBytes, 0}, signal, addend, 0);
  }
  HOST_DEVICE Posted PutImmediate(RemoteSpan target, LocalSpan source, uint32_t immediate) {
    return enqueuer_.MoveLong(proxy::Operation::kPutImmediate, target, source, immediate);
  }
  HOST_DEVICE Posted Get(LocalSpan target, RemoteSpan source) {
    return enqueuer_.Move(proxy::Operation::kGet, source, target);
  }
  HOST_DEVICE Posted FetchAdd(LocalSpan result, RemoteSpan target, uint64_t addend) {
    return Atomic(proxy::Operation::kFetchAdd, result, target, addend, 0);
  }
  HOST_DEVICE Posted CompareSwap(LocalSpan result, RemoteSpan target, uint64_t compare,
                                 uint64_t swap) {
    return Atomic(proxy::Operation::kCompareSwap, result, target, compare, swap);
  }
  HOST_DEVICE Posted Send(LocalSpan source) {
    return enqueuer_.Send({proxy::Operation::kSend, false, 0, {}, source, 0, 0});
  }
  HOST_DEVICE Posted SendImmediate(LocalSpan source, uint32_t immediate) {
    return enqueuer_.Send({proxy::Operation::kSendImmediate, false, 0, {}, source, immediate, 0});
  }

  HOST_DEVICE Completion Wait(const Posted& posted) {
    return posted.status.Ok() ? WaitUntil(Ring(), posted.confirmed) : posted.status;
  }
  HOST_DEVICE Completion Flush() { return WaitUntil(Ring(), enqueuer_.End()); }
  // Waits for nothing: what Flush would wait for now, for Test or Wait.
  HOST_DEVICE Posted FlushLater() { return {enqueuer_.End(), {}}; }
  // Whether `posted` has completed or failed, and `*done` says which; false: not yet.
  HOST_DEVICE bool Test(const Posted& posted, Completion* done) {
    *done = posted.status;
    return !posted.status.Ok() || Ended(Ring(), posted.confirmed, done);
  }
  HOST_DEVICE Completion Quiet(CompletionScope scope) {
    if (scope == CompletionScope::kSelectedQp) return Flush();
    const bool all = scope == CompletionScope::kAllQps;
    const uint32_t first = all ? 0 : table_.peer_first;
    const uint32_t count = all ? table_.count : table_.peer_count;
    Completion result;
    for (uint32_t i = first; i < first + count; ++i) {
      const Completion one = i == table_.selected ? Flush() : QuietOther(table_.views[i]);
      if (!one.Ok() && result.Ok()) result = one;
    }
    return result;
  }
  HOST_DEVICE Completion Fence() {
    if (table_.peer_count > 1) return Quiet(CompletionScope::kPeer);
    enqueuer_.FenceNext();
    return {};
  }
  HOST_DEVICE Completion WaitSignal(Ref<uint64_t> word, uint64_t value) {
    return WaitForSignal<Ordering>(enqueuer_.Port(), Ring(), word, value);
  }

 private:
  HOST_DEVICE const QpView& Ring() const { return table_.views[table_.selected]; }

  HOST_DEVICE Posted Atomic(proxy::Operation operation, LocalSpan result, RemoteSpan target,
                            uint64_t a, uint64_t b) {
    return enqueuer_.Atomic({operation, false, 0, target, result, a, b});
  }

  HOST_DEVICE Completion QuietOther(const QpView& ring) {
    return WaitUntil(ring, Handoff::EndOf(enqueuer_.Port(), ring, proxy::Producer()));
  }

  // Whether everything before `end` has completed, or something has failed.
  HOST_DEVICE bool Ended(const QpView& ring, uint64_t end, Completion* done) {
    P& port = enqueuer_.Port();
    const uint64_t word = port.template Load<Order::kRelaxed, Scope::kSystem>(ring.completed);
    const bool failed = (word & proxy::kFailed) != 0;
    const Completion failure = proxy::FailureIn(word, ring.qpn, end);
    if ((failed ? failure.wqe_index : word) < end) {
      if (failed) *done = failure;
      return failed;
    }
    // Orders the counter before what is read next: what operations before it have brought.
    Ordering::Acquire(port, ring);
    *done = {Status::kOk, 0, 0, ring.qpn, end == 0 ? 0 : end - 1};
    return true;
  }

  HOST_DEVICE Completion WaitUntil(const QpView& ring, uint64_t end) {
    const uint64_t deadline = DeadlineOf(enqueuer_.Port().Now(), ring.timeout_ps);
    Completion done;
    while (!Ended(ring, end, &done)) {
      if (!enqueuer_.Port().Relax(deadline)) return {Status::kTimeout, 0, 0, ring.qpn, end - 1};
    }
    return done;
  }

  const QpTable table_;
  proxy::Enqueuer<P, Handoff, Ordering> enqueuer_;
};

}  // namespace ringpost
