// poster.h: what the operations of an Endpoint share: the segments that every WQE has, posting by
// the publication policy, and messages above the QP's largest in pieces. put.h, get.h, atomic.h and
// send.h build on it; kernels use endpoint.h.
#pragma once

#include "transport/ordering.h"
#include "transport/send_queue.h"

namespace ringpost {

// Builds the WQEs of one post on a QP.
template <class P>
class WqeWriter {
 public:
  HOST_DEVICE WqeWriter(P& port, const QpView& qp, uint8_t fence_flags)
      : port_(port), qp_(qp), fence_flags_(fence_flags) {}

  HOST_DEVICE P& Port() { return port_; }

  HOST_DEVICE abi::Segment Control(abi::Opcode opcode, uint64_t index, uint32_t segments,
                                   uint8_t flags, uint32_t immediate = 0) const {
    const uint32_t address = qp_.kind == TransportKind::kDc ? 1 : 0;
    return abi::ControlSegmentOf(opcode, index & P::Masks::kWqeIndex, qp_.qpn, segments + address,
                                 static_cast<uint8_t>(flags | fence_flags_), immediate);
  }

  // The WQE as an RC QP has it; a DCI's says behind the control segment whom it is for.
  template <uint32_t N>
  HOST_DEVICE void Store(uint64_t index, const abi::Segment (&wqe)[N], uint32_t segments) {
    if (qp_.kind == TransportKind::kRc) {
      port_.StoreWqe(qp_, index, wqe, segments);
      return;
    }
    StoreAddressed(index, wqe, segments);
  }

  // Has no target, and so no address.
  HOST_DEVICE void StoreNop(uint64_t index, uint8_t flags) {
    const abi::Segment nop =
        abi::ControlSegmentOf(abi::Opcode::kNop, index & P::Masks::kWqeIndex, qp_.qpn, 1, flags);
    port_.StoreWqe(qp_, index, &nop, 1);
  }

 private:
  template <uint32_t N>
  HOST_DEVICE_SELDOM void StoreAddressed(uint64_t index, const abi::Segment (&wqe)[N],
                                         uint32_t segments) {
    abi::Segment addressed[N + 1];
    addressed[0] = wqe[0];
    addressed[1] = abi::AddressVectorOf(qp_.target.key, qp_.target.dct, qp_.target.lid);
    RINGPOST_UNROLL
    for (uint32_t i = 1; i < N; ++i) addressed[i + 1] = wqe[i];
    port_.StoreWqe(qp_, index, addressed, segments + 1);
  }

  P& port_;
  const QpView& qp_;
  const uint8_t fence_flags_;
};

template <class P, class Publication, class Ordering>
class Poster {
 public:
  // The QP is this thread's.
  static constexpr bool kAlone = !Publication::kSharesQp;

  HOST_DEVICE Poster(P& port, const QpView& qp) : port_(port), qp_(qp) {
    if constexpr (kAlone) {  // what each put of a stream needs
      const RegisterHold hold;
      hold.Keep(qp_.sq);
      hold.Keep(qp_.doorbell);
      hold.Keep(qp_.record);
      hold.Keep(qp_.published.address);
      hold.Keep(qp_.depth);
      hold.Keep(qp_.qpn);
    }
  }
  Poster(const Poster&) = delete;
  Poster& operator=(const Poster&) = delete;
  HOST_DEVICE ~Poster() { GiveBack(); }
  HOST_DEVICE void GiveBack() { GiveIndicesBack<Publication>(port_, qp_, own_); }

  HOST_DEVICE P& Port() { return port_; }
  HOST_DEVICE const QpView& Qp() const { return qp_; }
  HOST_DEVICE Indices& Own() { return own_; }
  // The end of what this thread has posted; 0: nothing.
  HOST_DEVICE uint64_t LastConfirmed() const { return last_confirmed_; }
  // The next post starts once earlier READs and atomics of the QP are complete.
  HOST_DEVICE void FenceNext() { fence_flags_ = abi::kFenceReadsAtomics; }
  HOST_DEVICE bool IsNextFenced() const { return fence_flags_ != 0; }

  // Whether the post is refused. Of lanes that post together none may stay behind in a collective.
  HOST_DEVICE bool Refuses(bool mine) {
    if constexpr (Publication::kWarpWide) return port_.Ballot(mine) != 0;
    return mine;
  }
  HOST_DEVICE Posted Refused() const { return {0, {Status::kInvalidArgument, 0, 0, qp_.qpn, 0}}; }

  // WQEBBs of a WQE that has `segments` on an RC QP.
  HOST_DEVICE uint32_t Blocks(uint32_t segments) const {
    return abi::WqebbsOf(segments + (qp_.kind == TransportKind::kDc ? 1 : 0));
  }

  // `build(writer, index, flags)` stores the WQEs from `index` on. It captures values alone, as it
  // may go into a function that is not inlined.
  template <class Build>
  HOST_DEVICE Posted Post(Extent extent, Build build) {
    const auto store = [build, fence = fence_flags_](P& port, const QpView& qp, uint64_t index,
                                                     uint8_t flags) {
      WqeWriter<P> writer(port, qp, fence);
      port.Enter(Step::kBuild, {qp.sink});
      build(writer, index, flags);
      port.Enter(Step::kBuilt, {qp.sink});
    };
    const Posted posted = Publication::template Post<Ordering>(port_, qp_, own_, extent, store);
    if (!posted.status.Ok()) return posted;  // a fence waits for the next that is posted
    fence_flags_ = 0;
    last_confirmed_ = posted.confirmed;
    return posted;
  }

  // `count` posts of `extent`, one WQEBB; `build(writer, index, flags, i)` stores the i-th. Ends at
  // the first that fails. Not behind a fence.
  template <class Build>
  HOST_DEVICE Posted PostEach(uint32_t count, Extent extent, Build build) {
    const auto store = [build](P& port, const QpView& qp, uint64_t index, uint8_t flags,
                               uint32_t i) {
      WqeWriter<P> writer(port, qp, 0);
      port.Enter(Step::kBuild, {qp.sink});
      build(writer, index, flags, i);
      port.Enter(Step::kBuilt, {qp.sink});
    };
    const Posted posted =
        Publication::template PostEach<Ordering>(port_, qp_, own_, count, extent, store);
    if (posted.confirmed != 0) last_confirmed_ = posted.confirmed;
    return posted;
  }

  // A message in pieces of at most the QP's largest, each a post of one WQEBB, but the last one of
  // `last`. `build(writer, index, flags, piece)` stores them. Lanes that post together end
  // together: one whose message is shorter posts NOPs before its last piece.
  struct Piece {
    uint64_t offset;
    uint32_t bytes;
    bool last;
  };
  template <class Build>
  HOST_DEVICE Posted PostPieces(uint64_t bytes, Extent last, Build build) {
    uint64_t done = 0;
    Completion failed;
    for (;;) {
      const bool more = bytes - done > qp_.max_message;
      bool ends = !more;
      if constexpr (Publication::kWarpWide) ends = port_.Ballot(more) == 0;
      const bool waits = !ends && !more;
      const uint64_t most = more ? qp_.max_message : bytes - done;
      const Piece piece{done, waits ? 0 : static_cast<uint32_t>(most), ends};
      const Posted posted = Post(ends ? last : Extent{1, 0},
                                 [=](WqeWriter<P>& writer, uint64_t index, uint8_t flags) {
                                   if (Publication::kWarpWide && waits) {
                                     writer.StoreNop(index, flags);
                                   } else {
                                     build(writer, index, flags, piece);
                                   }
                                 });
      if (!posted.status.Ok() && failed.Ok()) failed = posted.status;
      // Lanes go on together, also behind a failure that one of them alone has seen.
      if (ends || (!Publication::kWarpWide && !failed.Ok())) return {posted.confirmed, failed};
      done += piece.bytes;
    }
  }

 private:
  P& port_;
  Kept<QpView> qp_;
  Indices own_;
  uint64_t last_confirmed_ = 0;
  uint8_t fence_flags_ = 0;
};

}  // namespace ringpost
