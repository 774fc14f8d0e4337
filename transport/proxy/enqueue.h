// enqueue.h: an operation as slots of a ring: in the short form where one will do, else in the long
// one. endpoint.h is what kernels use.
#pragma once

#include "transport/atomic.h"
#include "transport/proxy/handoff.h"
#include "transport/put.h"

namespace ringpost::proxy {

template <class P, class Handoff, class Ordering>
class Enqueuer {
 public:
  HOST_DEVICE Enqueuer(P& port, const QpView& ring) : port_(port), ring_(ring) {
    if constexpr (!Handoff::kSharesRing) {  // what each of a stream needs
      const RegisterHold hold;
      hold.Keep(ring_.sq);
      hold.Keep(ring_.ready.address);
      hold.Keep(ring_.depth);
    }
  }
  Enqueuer(const Enqueuer&) = delete;
  Enqueuer& operator=(const Enqueuer&) = delete;
  HOST_DEVICE ~Enqueuer() { GiveBack(); }
  HOST_DEVICE void GiveBack() { Handoff::GiveBack(port_, ring_, own_); }

  HOST_DEVICE P& Port() { return port_; }
  HOST_DEVICE void FenceNext() {
    own_.fence = true;
    own_.quick = 0;
  }
  // The end of what was enqueued, as far as this thread can know.
  HOST_DEVICE uint64_t End() { return Handoff::EndOf(port_, ring_, own_); }

  // A put or get.
  HOST_DEVICE Posted Move(Operation operation, RemoteSpan remote, LocalSpan local) {
    if constexpr (!Handoff::kSharesRing) {
      const bool is_short = local.bytes <= kMaxShortBytes &&
                            (remote.address | local.address) <= kShortAddress && !own_.fence;
      if (is_short) {
        const Form form = operation == Operation::kGet ? Form::kGet : Form::kPut;
        const bool known = KeysKnown(remote.rkey) && own_.lkey == local.lkey;
        return PostShort(MoveSlot(form, remote.address, local.address, local.bytes), known,
                         remote.rkey, local.lkey, kReads);
      }
    }
    return MoveLong(operation, remote, local, 0);
  }

  // What does not fit one request goes in several: the last one has the immediate.
  HOST_DEVICE Posted MoveLong(Operation operation, RemoteSpan remote, LocalSpan local,
                              uint32_t immediate) {
    constexpr uint64_t kPiece = 1ull << 30;
    while (local.bytes > kMaxRequestBytes) {
      const Operation piece = operation == Operation::kGet ? operation : Operation::kPut;
      const Posted posted =
          PostLong({piece, false, 0, remote, {local.address, kPiece, local.lkey}, 0, 0}, kReads);
      if (!posted.status.Ok()) return posted;
      remote.address += kPiece;
      local.address += kPiece;
      local.bytes -= kPiece;
    }
    return PostLong({operation, false, 0, remote, local, immediate, 0}, kReads);
  }

  // The first `bytes`, up to 8, of `word`. In this order the usual case stands before what it would
  // otherwise jump over.
  HOST_DEVICE Posted PutWord(RemoteSpan target, uint64_t word, uint32_t bytes) {
    if constexpr (!Handoff::kSharesRing) {
      const bool near = target.address <= kShortAddress && target.rkey == own_.rkey;
      if (own_.quick != 0 && near) [[likely]] {
        --own_.quick;
        const uint64_t index = own_.next++;
        StoreSlot<Order::kRelaxed>(port_, ring_, index, PutValueSlot(target, word, bytes));
        Handoff::Note(port_, ring_, own_);
        return {own_.next, {}};
      }
    }
    const Checked checked = PutWordChecked(port_, OriginOf(ring_), own_, target, word, bytes);
    own_ = checked.own;
    return checked.posted;
  }

  HOST_DEVICE Posted PutInline(RemoteSpan target, const void* payload, uint32_t bytes) {
    if (bytes > ring_.max_inline || bytes > kMaxInlineBytes) return Refused();
    return PostLong({Operation::kPutInline, false, bytes, target, {}, 0, 0}, false, payload);
  }

  HOST_DEVICE Posted Atomic(const Request& request) {
    const bool odd =
        request.local.bytes != kAtomicBytes || request.target.address % kAtomicBytes != 0;
    return odd ? Refused() : PostLong(request, HasLocal(request.operation) && kReads);
  }

  HOST_DEVICE Posted Send(const Request& request) {
    return request.local.bytes > ring_.max_message ? Refused() : PostLong(request, kReads);
  }

 private:
  // Whether an operation on memory of this side releases: that memory's bytes, or what was there
  // before those that the NIC brings, are ordered before it.
  static constexpr bool kReads = Ordering::kScope == Scope::kSystem;

  struct Checked {
    Posted posted;
    Producer own;
  };
  HOST_DEVICE Enqueuer(P& port, const QpView& ring, const Producer& own)
      : port_(port), ring_(ring), own_(own) {}

  static HOST_DEVICE_APART Checked PutWordChecked(P& port, const QpView& ring, Producer own,
                                                  RemoteSpan target, uint64_t word,
                                                  uint32_t bytes) {
    Enqueuer again(port, ring, own);
    Posted posted;
    if (Handoff::kSharesRing || target.address > kShortAddress || own.fence) {
      posted = again.PutInline(target, &word, bytes);
    } else {
      posted = again.PostShort(PutValueSlot(target, word, bytes), again.KeysKnown(target.rkey),
                               target.rkey, own.lkey, false);
    }
    own = again.own_;
    again.own_ = {};  // it gives nothing back
    return {posted, own};
  }

  HOST_DEVICE Posted Refused() const { return {0, {Status::kInvalidArgument, 0, 0, ring_.qpn, 0}}; }
  HOST_DEVICE bool KeysKnown(uint32_t rkey) const { return own_.keyed && own_.rkey == rkey; }

  // Before it, where `known` is false, the slot that names its keys.
  HOST_DEVICE Posted PostShort(const Slot& slot, bool known, uint32_t rkey, uint32_t lkey,
                               bool releases) {
    const Slot keys = KeysSlot(rkey, lkey);
    const Posted posted =
        Enqueue<Handoff>(port_, ring_, own_, known ? 1 : 2, releases,
                         [&](uint32_t i) { return i == 0 && !known ? keys : slot; });
    if (posted.status.Ok()) {
      own_.keyed = true;
      own_.rkey = rkey;
      own_.lkey = lkey;
    }
    LookAgain();
    return posted;
  }

  HOST_DEVICE Posted PostLong(Request request, bool releases, const void* payload = nullptr) {
    request.fence = own_.fence;
    const Posted posted = Enqueue<Handoff>(
        port_, ring_, own_, SlotsOf(request.operation, request.inline_bytes), releases,
        [&](uint32_t i) { return i == 0 ? HeadSlot(request) : TailSlot(request, payload, i); });
    if (posted.status.Ok()) own_.fence = false;
    LookAgain();
    return posted;
  }

  // How many may go the quick way.
  HOST_DEVICE void LookAgain() {
    constexpr uint64_t kMost = 1u << 30;
    const uint64_t room = own_.next < own_.room ? own_.room - own_.next : 0;
    own_.quick = own_.keyed && !own_.fence ? static_cast<uint32_t>(room < kMost ? room : kMost) : 0;
  }

  P& port_;
  Kept<QpView> ring_;
  Producer own_;
};

}  // namespace ringpost::proxy
