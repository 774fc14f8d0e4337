// endpoint.h: put, get, atomics, send, signal, flush, quiet and fence over the queue pairs to one
// peer.
//
//   Endpoint<SimPort, PerThread, OrderGpuFence> endpoint(port, qps, selected);
//   endpoint.PutSignal(target, source, flag, 1);
//   Completion done = endpoint.Quiet(CompletionScope::kSelectedQp);
//
// One Endpoint serves one thread and is not copied. With a warp-wide publication policy every
// lane calls each operation together and posts its own message. Operations return what they
// posted; waits return a Completion and never outlast the QP's timeout. Operations of one QP are
// executed at the target in the order posted; nothing else is ordered without Quiet. Messages of
// any length, also of none: above the QP's largest they travel in pieces.
//
// Where one thread (cooperative: one warp) has the QP for itself, its Endpoint keeps the queue's
// indices in registers from the first operation until it ends, or GiveBack. Until then others post
// nothing there: they are refused with kInvalidArgument. One after the other may use the QP, also
// in kernels one after the other; on a shared QP any number at once.
#pragma once

#include "transport/get.h"
#include "transport/put_signal_add.h"
#include "transport/send.h"
#include "transport/waits.h"

namespace ringpost {

// The queue pairs that an Endpoint may use. The views stay with the caller, and as they are.
struct QpTable {
  const QpView* views = nullptr;
  uint32_t count = 0;       // all of this thread's QPs: what kAllQps waits for
  uint32_t peer_first = 0;  // [peer_first, peer_first + peer_count) lead to the peer
  uint32_t peer_count = 0;
  uint32_t selected = 0;  // the one that operations are posted on
};

template <class P, class Publication, class Ordering>
class Endpoint {
 public:
  HOST_DEVICE Endpoint(P& port, const QpTable& table)
      : table_(table), poster_(port, table.views[table.selected]) {}

  // Lets another Endpoint use the selected QP; this one may again when that one has ended.
  HOST_DEVICE void GiveBack() { poster_.GiveBack(); }

  // RDMA WRITE of `source`, which must stay unchanged until Flush or Quiet.
  HOST_DEVICE Posted Put(RemoteSpan target, LocalSpan source) {
    return PostPut(poster_, target, source);
  }

  // RDMA WRITE whose `bytes` (up to the QP's max_inline) travel in the WQE; `payload` is the
  // thread's own memory and may be reused at once. Lanes that post together have equal `bytes`.
  HOST_DEVICE Posted PutInline(RemoteSpan target, const void* payload, uint32_t bytes) {
    return PostPutInline<kMaxInlineBytes>(poster_, target, payload, bytes);
  }

  // The same of a value of 1, 2, 4 or 8 bytes.
  template <class T>
  HOST_DEVICE Posted PutValue(RemoteSpan target, T value) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
    uint64_t word = 0;
    memcpy(&word, &value, sizeof(T));
    return PostPutInline<sizeof(word)>(poster_, target, &word, sizeof(T));
  }

  // `count` of those, one after the other: `next(i)` returns the i-th as a ValuePut. As so many
  // calls of PutValue, but where this thread has the QP for itself it looks at the QP's space once
  // for many, so that a stream costs what its stores and fences do. Ends at the first that fails;
  // what it returns is of the last. Lanes that post together have equal `count`.
  template <class Next>
  HOST_DEVICE Posted PutValues(uint32_t count, Next next) {
    return PostPutValues(poster_, count, next);
  }

  // Put, then an 8-byte write of `value` to `signal`: both on one QP, so that who sees the signal
  // may read the payload after an acquire.
  HOST_DEVICE Posted PutSignal(RemoteSpan target, LocalSpan source, RemoteSpan signal,
                               uint64_t value) {
    return PostPutSignal(poster_, target, source, signal, value);
  }

  // The same with an add to the 8-byte counter `signal`; of memory, and of a value in the WQE.
  HOST_DEVICE Posted PutSignalAdd(RemoteSpan target, LocalSpan source, RemoteSpan signal,
                                  uint64_t addend) {
    return PostPutSignalAdd(poster_, target, source, signal, addend);
  }
  HOST_DEVICE Posted PutValueSignalAdd(RemoteSpan target, uint64_t value, RemoteSpan signal,
                                       uint64_t addend) {
    return PostValueSignalAdd(poster_, target, value, signal, addend);
  }

  // Adds to the 8-byte counter `signal`, after all earlier puts of the selected QP.
  HOST_DEVICE Posted Signal(RemoteSpan signal, uint64_t addend) {
    const QpView& qp = poster_.Qp();
    return PostFetchAdd(poster_, {qp.sink, kAtomicBytes, qp.sink_lkey}, signal, addend);
  }

  // Put that takes one of the peer's receives, which tells of its length and of `immediate`.
  HOST_DEVICE Posted PutImmediate(RemoteSpan target, LocalSpan source, uint32_t immediate) {
    return PostPut(poster_, target, source, abi::Opcode::kRdmaWriteImm, immediate);
  }

  // RDMA READ of the peer's memory into `target`.
  HOST_DEVICE Posted Get(LocalSpan target, RemoteSpan source) {
    return PostGet(poster_, target, source);
  }

  // Atomics on 8 aligned bytes of the peer; `result`, 8 bytes, gets what they held before.
  HOST_DEVICE Posted FetchAdd(LocalSpan result, RemoteSpan target, uint64_t addend) {
    return PostFetchAdd(poster_, result, target, addend);
  }
  HOST_DEVICE Posted CompareSwap(LocalSpan result, RemoteSpan target, uint64_t compare,
                                 uint64_t swap) {
    return PostCompareSwap(poster_, result, target, compare, swap);
  }

  // To where the peer's next receive says; `source` may not exceed the QP's largest message.
  HOST_DEVICE Posted Send(LocalSpan source) {
    return PostSend(poster_, abi::Opcode::kSend, source, 0);
  }
  HOST_DEVICE Posted SendImmediate(LocalSpan source, uint32_t immediate) {
    return PostSend(poster_, abi::Opcode::kSendImm, source, immediate);
  }

  // Waits for one posted operation.
  HOST_DEVICE Completion Wait(const Posted& posted) {
    return ByLeader<Publication>(poster_.Port(), poster_.Qp(), [&] {
      if (!posted.status.Ok()) return posted.status;
      poster_.Port().Enter(Step::kWait, {poster_.Qp().sink});
      const Completion rung = Publication::template PublishPending<Ordering>(
          poster_.Port(), poster_.Qp(), poster_.Own());
      if (!rung.Ok()) return rung;
      const Completion done =
          WaitCompleted<Ordering>(poster_.Port(), poster_.Qp(), poster_.Own(), posted.confirmed);
      return Ended(done);
    });
  }

  // Local completion of everything posted on the selected QP: sources may be reused.
  HOST_DEVICE Completion Flush() { return Ended(QuietOwn()); }

  // Every put so far on the QPs in scope is placed at its target. Of the other QPs in the table it
  // waits for what is published; puts posted on them through another Endpoint end there.
  HOST_DEVICE Completion Quiet(CompletionScope scope) {
    if (scope == CompletionScope::kSelectedQp) return Flush();
    const bool all = scope == CompletionScope::kAllQps;
    const uint32_t first = all ? 0 : table_.peer_first;
    const uint32_t count = all ? table_.count : table_.peer_count;
    Completion result;
    for (uint32_t i = 0; i < count; ++i) {
      const Completion one = QuietOne(first + i);
      if (!one.Ok() && result.Ok()) result = one;
    }
    return Ended(result);
  }

  // Orders later operations to the peer after all earlier ones; waits if it has more than one QP.
  HOST_DEVICE Completion Fence() {
    if (table_.peer_count > 1) return Quiet(CompletionScope::kPeer);
    poster_.FenceNext();
    return {};
  }

  // Waits until the 8-byte word that a peer signals is at least `value`. The peer may wait for what
  // is staged here, so that is rung first.
  HOST_DEVICE Completion WaitSignal(Ref<uint64_t> word, uint64_t value) {
    if (Publication::kBatches && poster_.LastConfirmed() != 0) {
      const Completion rung = Publication::template PublishPending<Ordering>(
          poster_.Port(), poster_.Qp(), poster_.Own());
      if (!rung.Ok()) return rung;
    }
    return WaitForSignal<Ordering>(poster_.Port(), poster_.Qp(), word, value);
  }

 private:
  HOST_DEVICE Completion Ended(const Completion& completion) {
    poster_.Port().Enter(Step::kQuieted, {poster_.Qp().sink});
    return completion;
  }
  HOST_DEVICE Completion QuietOne(uint32_t index) {
    if (index == table_.selected) return QuietOwn();
    const QpView& qp = table_.views[index];
    Indices own;
    const Completion done = Quieted(qp, own, 0);
    GiveIndicesBack<Publication>(poster_.Port(), qp, own);
    return done;
  }
  HOST_DEVICE Completion QuietOwn() {
    return Quieted(poster_.Qp(), poster_.Own(), poster_.LastConfirmed());
  }
  HOST_DEVICE Completion Quieted(const QpView& qp, Indices& own, uint64_t confirmed) {
    return ByLeader<Publication>(poster_.Port(), qp, [&] {
      return WaitPublished<Publication, Ordering>(poster_.Port(), qp, own, confirmed);
    });
  }

  const QpTable table_;
  Poster<P, Publication, Ordering> poster_;
};

}  // namespace ringpost
