// endpoint.h: put, get, signal, flush, quiet and fence over the queue pairs to one peer.
//
//   Endpoint<SimPort, PerThread, OrderGpuFence> endpoint(port, qps, selected);
//   endpoint.PutSignal(target, source, flag, 1);
//   Completion done = endpoint.Quiet(CompletionScope::kSelectedQp);
//
// One Endpoint serves one thread; it holds no memory. With a warp-wide publication policy every
// lane calls each operation together and posts its own message. Operations return what they
// posted; waits return a Completion and never outlast the QP's timeout. Operations of one QP are
// executed at the target in the order posted; nothing else is ordered without Quiet.
#pragma once

#include "transport/abi/inline_payload.h"
#include "transport/ordering.h"
#include "transport/send_queue.h"

namespace ringpost {

// The queue pairs that an Endpoint may use. The views stay with the caller.
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
      : port_(port), table_(table), qp_(table.views[table.selected]) {}

  // RDMA WRITE of `source`, which must stay unchanged until Flush or Quiet. Any length up to 2^30.
  HOST_DEVICE Posted Put(RemoteSpan target, LocalSpan source) {
    if (source.bytes > kMaxMessageBytes) return Refused();
    return Post({1, 0},
                [&](uint64_t index, uint8_t flags) { StoreWrite(index, flags, target, source); });
  }

  // RDMA WRITE whose `bytes` (up to the QP's max_inline) travel in the WQE; `payload` is the
  // thread's own memory and may be reused at once.
  HOST_DEVICE Posted PutInline(RemoteSpan target, const void* payload, uint32_t bytes) {
    if (bytes > qp_.max_inline || bytes > kMaxInlineBytes) return Refused();
    const uint32_t segments = 2 + abi::InlineSegments(bytes);
    return Post({abi::WqebbsOf(segments), 0}, [&](uint64_t index, uint8_t flags) {
      StoreInline(index, flags, target, payload, bytes);
    });
  }

  // Put, then an 8-byte write of `value` to `signal`: both on one QP, so that who sees the signal
  // may read the payload after an acquire.
  HOST_DEVICE Posted PutSignal(RemoteSpan target, LocalSpan source, RemoteSpan signal,
                               uint64_t value) {
    if (source.bytes > kMaxMessageBytes) return Refused();
    return Post({2, 1}, [&](uint64_t index, uint8_t flags) {
      StoreWrite(index, abi::kCqeOnError, target, source);
      StoreInline(index + 1, flags, signal, &value, sizeof(value));
    });
  }

  // RDMA READ of the peer's memory into `target`.
  HOST_DEVICE Posted Get(LocalSpan target, RemoteSpan source) {
    if (target.bytes == 0 || target.bytes > kMaxMessageBytes) return Refused();
    return Post({1, 0}, [&](uint64_t index, uint8_t flags) {
      const abi::Segment wqe[3] = {
          Control(abi::Opcode::kRdmaRead, index, 3, flags),
          abi::RemoteAddressOf(source.address, source.rkey),
          abi::DataOf(static_cast<uint32_t>(target.bytes), target.lkey, target.address)};
      port_.StoreWqe(qp_, index, wqe, 3);
    });
  }

  // Waits for one posted operation.
  HOST_DEVICE Completion Wait(const Posted& posted) {
    return ByLeader(qp_, [&] {
      if (!posted.status.Ok()) return posted.status;
      const Completion rung = Publication::template PublishPending<Ordering>(port_, qp_);
      return rung.Ok() ? WaitCompleted<Ordering>(port_, qp_, posted.confirmed) : rung;
    });
  }

  // Local completion of everything posted on the selected QP: sources may be reused.
  HOST_DEVICE Completion Flush() { return QuietOne(qp_); }

  // Every put so far on the QPs in scope is placed at its target. Of the other QPs in the table it
  // waits for what is published; puts posted on them through another Endpoint end there.
  HOST_DEVICE Completion Quiet(CompletionScope scope) {
    if (scope == CompletionScope::kSelectedQp) return QuietOne(qp_);
    const bool all = scope == CompletionScope::kAllQps;
    const uint32_t first = all ? 0 : table_.peer_first;
    const uint32_t count = all ? table_.count : table_.peer_count;
    Completion result;
    for (uint32_t i = 0; i < count; ++i) {
      const Completion one = QuietOne(table_.views[first + i]);
      if (!one.Ok() && result.Ok()) result = one;
    }
    return result;
  }

  // Orders later operations to the peer after all earlier ones; waits if it has more than one QP.
  HOST_DEVICE Completion Fence() {
    if (table_.peer_count > 1) return Quiet(CompletionScope::kPeer);
    fence_flags_ = abi::kFenceReadsAtomics;
    return {};
  }

  // Waits until the 8-byte word that a peer signals is at least `value`.
  HOST_DEVICE Completion WaitSignal(Ref<uint64_t> word, uint64_t value) {
    const uint64_t deadline = DeadlineOf(port_.Now(), qp_.timeout_ps);
    while (port_.template Load<Order::kRelaxed, Scope::kSystem>(word) < value) {
      if (!port_.Relax(deadline)) return {Status::kTimeout, 0, 0, qp_.qpn, 0};
    }
    Ordering::Acquire(port_, qp_);
    return {};
  }

 private:
  static constexpr uint64_t kMaxMessageBytes = 1ull << 30;  // port max_msg_sz of ConnectX
  static constexpr uint32_t kMaxInlineBytes = 220;
  static constexpr uint32_t kMaxInlineSegments = 2 + abi::InlineSegments(kMaxInlineBytes);

  HOST_DEVICE Posted Refused() const { return {0, {Status::kInvalidArgument, 0, 0, qp_.qpn, 0}}; }

  template <class Build>
  HOST_DEVICE Posted Post(Extent extent, Build&& build) {
    const Posted posted = Publication::template Post<Ordering>(port_, qp_, extent, build);
    fence_flags_ = 0;
    if (posted.status.Ok()) last_confirmed_ = posted.confirmed;
    return posted;
  }

  HOST_DEVICE abi::Segment Control(abi::Opcode opcode, uint64_t index, uint32_t segments,
                                   uint8_t flags) const {
    return abi::ControlSegmentOf(opcode, index & P::Masks::kWqeIndex, qp_.qpn, segments,
                                 static_cast<uint8_t>(flags | fence_flags_));
  }

  HOST_DEVICE void StoreWrite(uint64_t index, uint8_t flags, RemoteSpan target, LocalSpan source) {
    // A zero-length write has no data segment: byte_count 0 would mean 2 GiB.
    const uint32_t segments = source.bytes == 0 ? 2 : 3;
    const abi::Segment wqe[3] = {
        Control(abi::Opcode::kRdmaWrite, index, segments, flags),
        abi::RemoteAddressOf(target.address, target.rkey),
        abi::DataOf(static_cast<uint32_t>(source.bytes), source.lkey, source.address)};
    port_.StoreWqe(qp_, index, wqe, segments);
  }

  HOST_DEVICE void StoreInline(uint64_t index, uint8_t flags, RemoteSpan target,
                               const void* payload, uint32_t bytes) {
    const uint32_t segments = 2 + abi::InlineSegments(bytes);
    abi::Segment wqe[kMaxInlineSegments];
    wqe[0] = Control(abi::Opcode::kRdmaWrite, index, segments, flags);
    wqe[1] = abi::RemoteAddressOf(target.address, target.rkey);
    abi::PackInline(wqe + 2, payload, bytes);
    port_.GatherInline(bytes);
    port_.StoreWqe(qp_, index, wqe, segments);
  }

  // Of a warp that posts together, one lane waits.
  template <class Wait>
  HOST_DEVICE Completion ByLeader(const QpView& qp, Wait&& wait) {
    if constexpr (Publication::kWarpWide) {
      Completion done;
      if (port_.Lane() == 0) done = wait();
      done = OfLeader(port_, qp, done);
      // Passes on to all lanes what lane 0 has acquired.
      port_.SyncWarp();
      return done;
    } else {
      return wait();
    }
  }

  // On a shared QP this thread's last WQE may still wait for another thread to ring.
  HOST_DEVICE Completion QuietOne(const QpView& qp) {
    return ByLeader(qp, [&] { return WaitPublished(qp); });
  }

  HOST_DEVICE Completion WaitPublished(const QpView& qp) {
    const Completion rung = Publication::template PublishPending<Ordering>(port_, qp);
    if (!rung.Ok()) return rung;
    uint64_t target = LoadIndex(port_, qp, qp.published);
    if (&qp == &qp_ && last_confirmed_ > target) target = last_confirmed_;
    return WaitCompleted<Ordering>(port_, qp, target);
  }

  P& port_;
  const QpTable& table_;
  const QpView& qp_;
  uint64_t last_confirmed_ = 0;
  uint8_t fence_flags_ = 0;
};

}  // namespace ringpost
