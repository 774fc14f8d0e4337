// indices.h: what an Endpoint keeps of its QP's indices in its own members: registers on a GPU,
// where the words themselves cost a way to L2 after each acquire, which empties L1.
//
// On a QP that the Endpoint alone uses it holds the indices from its first post until it gives them
// back; meanwhile `reserved` in memory says kHeld, so that another Endpoint is refused instead of
// storing into the same slots. `published` and `completed` are kept current in memory: Quiet
// through another Endpoint of the thread looks at them. On a shared QP it keeps `room` alone.
#pragma once

#include "transport/port.h"

namespace ringpost {

struct Indices {
  uint64_t reserved = 0;   // held: the next free slot
  uint64_t ready = 0;      // held, of a policy that batches: how far the doorbell has gone
  uint64_t published = 0;  // 0: what memory says
  // Slots before it may be used: `depth` beyond what is known to be completed. Never too far, as
  // `completed` only grows; 0 before the first post.
  uint64_t room = 0;
  // Held, and the QP plain: slots that may be taken and posted without a look at anything: at
  // completions, at the end of a batch, at how the QP is addressed and rung, and whether it takes
  // short inline payloads.
  uint32_t unchecked = 0;
  bool rings = false;  // and with the last of them a batch is full
  bool held = false;
};

inline constexpr uint64_t kHeld = ~0ull;
// What fits into one segment of a WQE: a value, most of what is sent inline.
inline constexpr uint32_t kShortInlineBytes = 12;

// Reads `completed` or another index word: plainly where one thread owns the QP.
template <class P>
HOST_DEVICE uint64_t LoadIndex(P& port, const QpView& qp, Ref<uint64_t> word) {
  if (qp.shared == 0) return port.template Load<Order::kRelaxed, Scope::kThread>(word);
  return port.template Load<Order::kRelaxed, Scope::kGpu>(word);
}

template <class P>
HOST_DEVICE void RaiseIndex(P& port, const QpView& qp, Ref<uint64_t> word, uint64_t value) {
  if (qp.shared == 0) {
    port.template Store<Order::kRelaxed, Scope::kThread>(word, value);
  } else {
    port.template RaiseTo<Order::kRelaxed, Scope::kGpu>(word, value);
  }
}

template <class P>
HOST_DEVICE uint64_t PublishedOf(P& port, const QpView& qp, const Indices& own) {
  return own.published != 0 ? own.published : LoadIndex(port, qp, qp.published);
}

// A value that `completed` has had, less than 65536 behind it: what a 16-bit counter is read
// against. What a shared QP's thread has kept may be older.
template <class P>
HOST_DEVICE uint64_t KnownCompleted(P& port, const QpView& qp, const Indices& own) {
  return own.held ? own.room - qp.depth : LoadIndex(port, qp, qp.completed);
}

// As most QPs are: what needs no branch in a put.
HOST_DEVICE bool IsPlain(const QpView& qp) {
  return qp.kind == TransportKind::kRc && qp.doorbell_mode == DoorbellMode::kGpu &&
         qp.indices == IndexHome::kEndpoint && qp.max_inline >= kShortInlineBytes;
}

// Takes the indices of a QP that the caller alone uses. False: another Endpoint has them.
template <class Publication, class P>
HOST_DEVICE bool TakeIndices(P& port, const QpView& qp, Indices& own) {
  if (own.held) return true;
  const uint64_t reserved = port.template Load<Order::kRelaxed, Scope::kThread>(qp.reserved);
  if (reserved == kHeld) return false;
  if (qp.indices == IndexHome::kEndpoint) {
    port.template Store<Order::kRelaxed, Scope::kThread>(qp.reserved, kHeld);
  }
  own.held = true;
  own.reserved = reserved;
  // At most `depth` slots are reserved and not completed.
  own.room = reserved < qp.depth ? qp.depth : reserved;
  if constexpr (Publication::kBatches) {
    own.ready = port.template Load<Order::kRelaxed, Scope::kThread>(qp.ready);
  }
  return true;
}

template <class Publication, class P>
HOST_DEVICE void GiveIndicesBack(P& port, const QpView& qp, Indices& own) {
  if (!own.held) return;
  port.template Store<Order::kRelaxed, Scope::kThread>(qp.reserved, own.reserved);
  if constexpr (Publication::kBatches) {
    port.template Store<Order::kRelaxed, Scope::kThread>(qp.ready, own.ready);
  }
  own = {};
}

}  // namespace ringpost
