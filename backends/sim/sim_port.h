// sim_port.h: the Port of a thread in virtual time: one of a GPU, or of a host's core.
//
// Each operation costs what the platform says, acts on simulated memory at the moment when it
// would be performed (half a round trip after its issue), and leaves its program point for the
// ordering checker. Private operations run ahead of the clock; shared ones meet it.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/sim/sim_group.h"
#include "backends/sim/sim_operations.h"
#include "backends/sim/sim_steps.h"
#include "transport/abi/doorbell.h"
#include "transport/port.h"

namespace ringpost {

template <class MaskSet>
class BasicSimPort : private SimOperations, private SimSteps, public SimGroup {
 public:
  using Masks = MaskSet;
  static constexpr bool kHasBlueFlame = false;

  // The same thread with other index masks.
  template <class M>
  explicit BasicSimPort(const BasicSimPort<M>& o)
      : BasicSimPort(o.thread_, o.nic_, o.trace_, o.lists_) {}
  // `lists`: what a library does beside, or null; outlives this.
  BasicSimPort(sim::GpuThread& thread, sim::NicNode& nic, sim::Trace* trace = nullptr,
               const sim::OperationLists* lists = nullptr)
      : SimOperations(thread, nic, lists), SimSteps(thread, trace), SimGroup(thread) {}

  using SimOperations::Enter, SimWords::CopyPayload, SimWords::StorePair;
  uint32_t ThreadIndex() const { return thread_.Index(); }
  uint64_t Now() const {
    Traced(sim::ThreadAct::kClock, 0, 0, thread_.Local());
    return static_cast<uint64_t>(thread_.Local().ps);
  }

  template <Order O, Scope S, class T>
  T Load(Ref<T> word, Site site = Site::Here()) {
    if constexpr (S == Scope::kThread) {
      thread_.Spend(thread_.L1Cold() ? costs_.load_gpu : costs_.load_local);
      thread_.L1Cold() = false;
      return static_cast<T>(memory_.Load(At(word.address, site), sizeof(T), O, S));
    } else {
      const T value = static_cast<T>(LoadShared(word.address, sizeof(T), O, S, site));
      if constexpr (O != Order::kRelaxed) thread_.L1Cold() = true;
      return value;
    }
  }

  template <Order O, Scope S, class T>
  void Store(Ref<T> word, std::type_identity_t<T> value, Site site = Site::Here()) {
    if constexpr (S == Scope::kThread) {
      thread_.Spend(costs_.store_issue);
      memory_.Store(At(word.address, site), value, sizeof(T), O, S, costs_.fence_acq_rel_gpu);
    } else {
      StoreShared(word.address, value, sizeof(T), O, S, site);
    }
  }

  template <Order O, Scope S, class T>
  T FetchAdd(Ref<T> word, std::type_identity_t<T> addend, Site site = Site::Here()) {
    return Modify<O, S, T>(word, site, [addend](uint64_t old) { return T(T(old) + addend); });
  }
  template <Order O, Scope S, class T>
  T FetchMax(Ref<T> word, std::type_identity_t<T> value, Site site = Site::Here()) {
    return Modify<O, S, T>(word, site, [value](uint64_t old) { return std::max(T(old), value); });
  }
  template <Order O, Scope S, class T>
  T Exchange(Ref<T> word, std::type_identity_t<T> value, Site site = Site::Here()) {
    return Modify<O, S, T>(word, site, [value](uint64_t) { return value; });
  }
  template <Order O, Scope S, class T>
  T CompareExchange(Ref<T> word, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
                    Site site = Site::Here()) {
    return Atomic<O, S>(word, site, [&](const sim::Access& access) {
      return memory_.CompareExchange(access, expected, desired, sizeof(T), O, S);
    });
  }
  // Nothing comes back, so the thread goes on; the maximum is taken when the request arrives.
  template <Order O, Scope S, class T>
  void RaiseTo(Ref<T> word, std::type_identity_t<T> value, Site site = Site::Here()) {
    const sim::Time resume = thread_.Local() + costs_.store_issue;
    FetchMax<O, S>(word, value, site);
    if (resume < thread_.Local()) thread_.MoveTo(sim::Later(resume, Clock()));
  }

  void StorePayload(uint64_t target, const void* source, uint64_t bytes, Site site = Site::Here()) {
    thread_.NoteEffect();
    thread_.Spend(costs_.payload_store * Chunks(bytes));
    thread_.WeakStoresOutstanding() = true;
    const bool written = memory_.Write(At(target, site), source, bytes, costs_.fence_acq_rel_gpu);
    RINGPOST_CHECK(written, "a thread stored outside allocated memory");
  }
  void LoadPayload(void* target, uint64_t source, uint64_t bytes, Site site = Site::Here()) {
    thread_.NoteEffect();
    thread_.Sync();
    const bool read = memory_.Read(At(source, site), target, bytes);
    RINGPOST_CHECK(read, "a thread read outside allocated memory");
    thread_.Spend(costs_.payload_load * Chunks(bytes));
  }

  // Inline: a frame less, which would be cold lines of the thread's stack.
  [[gnu::always_inline]] void StoreWqe(const QpView& qp, uint64_t index,
                                       const abi::Segment* segments, uint32_t count,
                                       Site site = Site::Here()) {
    constexpr uint64_t kLanesAhead = 3;  // those behind this one will write what follows
    memory_.Prefetch(qp.sq + MaskSlot(qp, index + kLanesAhead) * abi::kWqebbBytes);
    thread_.NoteEffect();
    const sim::Time begin = thread_.Local();
    const uint32_t lanes = thread_.MyGpu().LanesOn(thread_.MyWarp().Sm());
    thread_.Spend(costs_.wqe_build + costs_.wqe_segment * count + costs_.store_port * (lanes - 1));
    thread_.WeakStoresOutstanding() = true;
    Traced(sim::ThreadAct::kWqe, qp.qpn, index, begin);
    for (; count > abi::kSegmentsPerWqebb; count -= abi::kSegmentsPerWqebb) {
      StoreBlock(qp, index++, segments, abi::kSegmentsPerWqebb, site);
      segments += abi::kSegmentsPerWqebb;
    }
    StoreBlock(qp, index, segments, count, site);
  }

  // A payload of one word is in a register; a longer one comes from the thread's own memory.
  void GatherInline(uint64_t bytes) {
    constexpr uint64_t kWord = sizeof(uint64_t);
    thread_.NoteEffect();
    if (bytes > kWord) thread_.Spend(costs_.payload_load * Chunks(bytes - kWord));
  }

  template <Order O, Scope S>
  void Fence(const QpView&, Site = Site::Here()) {
    FenceFor(O, S);
    memory_.Fence(agent_, O, S);
  }

  template <Order O, Scope S>
  void StoreDoorbellRecord(const QpView& qp, uint32_t counter, Site site = Site::Here()) {
    StoreShared(qp.record + abi::kRecordSendOffset, abi::Swap32(counter), sizeof(counter), O, S,
                site);
  }

  template <Order O, Scope S>
  void RingDoorbell(const QpView&, uint64_t value, Site site = Site::Here()) {
    thread_.NoteEffect();
    if constexpr (O != Order::kRelaxed) FenceFor(O, S);
    // A poster that nothing stops must not run a whole ring ahead of the NIC.
    thread_.Sync();
    RingNic(value, memory_.Release(agent_, O, S, site));
  }

  uint64_t LoadCqeTail(uint64_t cq, uint32_t slot, Site site = Site::Here()) {
    const sim::Time begin = thread_.Local();
    const uint64_t tail = LoadCqe(cq, slot, abi::kCqeTailOffset, site);
    Traced(sim::ThreadAct::kCqe, abi::TailQpn(tail), abi::TailCounter(tail), begin);
    return tail;
  }
  uint64_t LoadCqeError(uint64_t cq, uint32_t slot, Site site = Site::Here()) {
    return LoadCqe(cq, slot, abi::kCqeTailOffset - sizeof(uint64_t), site);
  }

  void Expect(Ref<uint64_t> word, uint64_t value) { ExpectWord(word.address, value); }
  void ExpectCqe(uint64_t cq, uint32_t slot, uint64_t known, uint64_t target) {
    ExpectTail<Masks>(cq, slot, known, target);
  }
  bool Relax(uint64_t deadline) {
    const sim::Time limit = deadline > static_cast<uint64_t>(sim::Time::Never().ps)
                                ? sim::Time::Never()
                                : sim::Time{static_cast<int64_t>(deadline)};
    return thread_.Relax(limit, costs_.spin);
  }

 private:
  template <class M>
  friend class BasicSimPort;
  static int64_t Chunks(uint64_t bytes) { return static_cast<int64_t>((bytes + 15) / 16); }
  static uint64_t MaskSlot(const QpView& qp, uint64_t index) {
    return Masks::kSlot ? index & (qp.depth - 1) : index;
  }

  void StoreBlock(const QpView& qp, uint64_t index, const abi::Segment* segments, uint32_t count,
                  Site site) {
    memory_.Write(At(qp.sq + MaskSlot(qp, index) * abi::kWqebbBytes, site), segments,
                  count * abi::kSegmentBytes, costs_.fence_acq_rel_gpu);
  }

  uint64_t LoadCqe(uint64_t cq, uint32_t slot, uint32_t offset, Site site) {
    return LoadShared(cq + uint64_t{slot} * abi::kCqeBytes + offset, sizeof(uint64_t),
                      Order::kRelaxed, Scope::kSystem, site);
  }
};

using SimPort = BasicSimPort<FullMasks>;
static_assert(Port<SimPort>);

}  // namespace ringpost
