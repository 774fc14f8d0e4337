// port.h: the only way in which the transport touches memory that another agent can observe.
//
// A Port is one executing thread's view of the machine. cuda_port.cuh (a GPU thread), host_port.h
// (a host thread) and backends/sim/sim_port.h (a thread in virtual time) satisfy the concept; the
// transport is the same source over each. Every operation names its order and its scope: who must
// see it. A loop that waits must call the port in its body.
//
//   Load / Store / FetchAdd / FetchMax / Exchange / CompareExchange
//       shared words of 4 or 8 bytes; order and scope are template arguments. Scope::kThread says
//       that no other thread uses the word now: a plain access.
//   RaiseTo   a posted FetchMax: nothing comes back, so the thread does not wait for it
//   StorePair(words, low, high)
//       two words of 8 bytes at an address of 16: one store on a GPU; each is seen whole, and the
//       second not later than the first
//   StorePayload / LoadPayload
//       ranges that no one reads concurrently: weak accesses, any alignment.
//   StoreWqe(qp, index, segments, count)
//       weak 16-byte stores into the ring from slot `index`, wrapping at the ring's end.
//   GatherInline(bytes)
//       this thread has read `bytes` of its own memory to put them into a WQE: costs virtual time;
//       elsewhere the loads themselves have taken theirs.
//   Enter(step, word)
//       the thread is now at this step of an operation; `word` is for what the port does there, and
//       nobody reads it. In virtual time: the operations that a library has there
//       (configs/libraries); elsewhere nothing.
//   Fence(qp)
//       orders this thread's earlier accesses before its later ones, for observers in scope. The
//       view names the fence word that a host port needs under TSan; others ignore it.
//   StoreDoorbellRecord(qp, counter)   the big-endian send counter of the doorbell record
//   RingDoorbell(qp, value)            one 64-bit store to the QP's UAR register
//   LoadCqeTail(cq, slot) / LoadCqeError(cq, slot)
//       bytes 56..63 / bytes 48..55, after an acquire; both relaxed at system scope, as a flush
//       may be rewriting the slot
//   SyncWarp / Shuffle / Ballot / Lane / WarpSize    collectives of all lanes of the warp
//   SyncBlock / ShareInBlock / AnyInBlock / ThreadInBlock / BlockSize
//       the same of all threads of a CTA: a barrier, what `source` has brought, whether any votes
//   Expect(word, value)   a hint inside a waiting loop: it ends when `word` reads `value`. In
//   ExpectCqe(cq, slot, known, target)   virtual time the thread then wakes for that alone; others
//                     ignore it. Or when the CQE in `slot` is an error, or takes `completed` from
//                     `known` to `target` or beyond.
//   Relax(deadline)   ends a turn of a waiting loop; false when the deadline passed or the run is
//                     being taken down. In virtual time the thread parks until a word that it
//                     loaded since the last Relax may read differently.
//   Now()             picoseconds since an arbitrary start; monotone for one thread
//
// kHasBlueFlame: 64-byte rings are possible, as from a CPU. Masks is a type whose constants are the
// index masks of the byte contract; tests weaken them.
#pragma once

#include <concepts>
#include <cstdint>

#include "transport/abi/wqe.h"
#include "transport/host_device.h"
#include "transport/memory_span.h"
#include "transport/order.h"
#include "transport/qp_view.h"
#include "transport/step.h"

namespace ringpost {

// The index masks of the byte contract. `kAll` keeps everything.
struct FullMasks {
  static constexpr uint64_t kWqeIndex = 0xffff;  // index field of the control segment
  static constexpr uint64_t kRecord = 0xffff;    // send counter of the doorbell record
  static constexpr uint64_t kDoorbell = 0xffff;  // index field of the doorbell
  static constexpr uint64_t kCounter = 0xffff;   // distance between CQE counters
  static constexpr bool kSlot = true;            // ring slot = index modulo depth
};

template <class P>
concept Port = requires(P port, const QpView& qp, Ref<uint64_t> word, Ref<uint32_t> half,
                        uint64_t value, uint32_t small, const void* source, void* target,
                        const abi::Segment* segments) {
  typename P::Masks;
  { P::kHasBlueFlame } -> std::convertible_to<bool>;
  { port.template Load<Order::kRelaxed, Scope::kGpu>(word) } -> std::same_as<uint64_t>;
  { port.template Load<Order::kAcquire, Scope::kSystem>(half) } -> std::same_as<uint32_t>;
  port.template Store<Order::kRelease, Scope::kGpu>(word, value);
  { port.template FetchAdd<Order::kRelaxed, Scope::kGpu>(word, value) } -> std::same_as<uint64_t>;
  { port.template FetchMax<Order::kRelaxed, Scope::kGpu>(word, value) } -> std::same_as<uint64_t>;
  port.template RaiseTo<Order::kRelaxed, Scope::kGpu>(word, value);
  port.template StorePair<Order::kRelease, Scope::kSystem>(value, value, value);
  { port.template Exchange<Order::kAcqRel, Scope::kGpu>(word, value) } -> std::same_as<uint64_t>;
  {
    port.template CompareExchange<Order::kAcqRel, Scope::kGpu>(word, value, value)
    } -> std::same_as<uint64_t>;
  port.StorePayload(value, source, value);
  port.LoadPayload(target, value, value);
  port.StoreWqe(qp, value, segments, small);
  port.GatherInline(value);
  port.Enter(Step::kBuild, word);
  port.template Fence<Order::kAcqRel, Scope::kGpu>(qp);
  port.template StoreDoorbellRecord<Order::kRelaxed, Scope::kGpu>(qp, small);
  port.template RingDoorbell<Order::kRelaxed, Scope::kSystem>(qp, value);
  { port.LoadCqeTail(value, small) } -> std::same_as<uint64_t>;
  { port.LoadCqeError(value, small) } -> std::same_as<uint64_t>;
  port.SyncWarp();
  { port.Shuffle(value, small) } -> std::same_as<uint64_t>;
  { port.Ballot(true) } -> std::same_as<uint32_t>;
  { port.Lane() } -> std::same_as<uint32_t>;
  { port.WarpSize() } -> std::same_as<uint32_t>;
  port.SyncBlock();
  { port.ShareInBlock(value, small) } -> std::same_as<uint64_t>;
  { port.AnyInBlock(true) } -> std::same_as<bool>;
  { port.ThreadInBlock() } -> std::same_as<uint32_t>;
  { port.BlockSize() } -> std::same_as<uint32_t>;
  port.Expect(word, value);
  port.ExpectCqe(value, small, value, value);
  { port.Relax(value) } -> std::same_as<bool>;
  { port.Now() } -> std::same_as<uint64_t>;
};

}  // namespace ringpost
