// mutant_port.h: a Port that drops or weakens the operation at one source location, chosen at run
// time, and passes everything else on.
//
//   Plan plan(point, Mutation::kDrop);
//   MutantPort<SimPort> port(sim_port, plan);
//   Endpoint<MutantPort<SimPort>, Publication, Called<Ordering>> endpoint(port, qps);
//
// Orders and scopes are template arguments, so each operation holds its mutants as branches.
// Called<Ordering> tells the port who calls the ordering policy.
#pragma once

#include <type_traits>

#include "tests/mutation/plan.h"
#include "transport/port.h"

namespace ringpost::mutation {

template <class P>
class MutantPort {
 public:
  using Masks = typename P::Masks;
  static constexpr bool kHasBlueFlame = P::kHasBlueFlame;

  MutantPort(P& port, Plan& plan) : port_(port), plan_(plan) {}

  void SetCaller(const Caller& caller, const char* role) {
    caller_ = caller;
    role_ = role;
  }

  template <Order O, Scope S, class T>
  T Load(Ref<T> word, Site site = Site::Here()) {
    if constexpr (O != Order::kRelaxed) {
      const Mutation mutation = At(Kind::kLoad, O, S, site);
      if (mutation == Mutation::kRelax) {
        return port_.template Load<Order::kRelaxed, S>(word, site);
      }
      if (mutation == Mutation::kNarrow) return port_.template Load<O, Narrower(S)>(word, site);
    }
    return port_.template Load<O, S>(word, site);
  }
  template <Order O, Scope S, class T>
  void Store(Ref<T> word, std::type_identity_t<T> value, Site site = Site::Here()) {
    Weakened<O, S>(Kind::kStore, site, [&]<Order Weak, Scope Narrow>() {
      port_.template Store<Weak, Narrow>(word, value, site);
    });
  }
  template <Order O, Scope S, class T>
  T FetchAdd(Ref<T> word, std::type_identity_t<T> value, Site site = Site::Here()) {
    return Weakened<O, S>(Kind::kModify, site, [&]<Order Weak, Scope Narrow>() {
      return port_.template FetchAdd<Weak, Narrow>(word, value, site);
    });
  }
  template <Order O, Scope S, class T>
  T FetchMax(Ref<T> word, std::type_identity_t<T> value, Site site = Site::Here()) {
    return Weakened<O, S>(Kind::kModify, site, [&]<Order Weak, Scope Narrow>() {
      return port_.template FetchMax<Weak, Narrow>(word, value, site);
    });
  }
  template <Order O, Scope S, class T>
  void RaiseTo(Ref<T> word, std::type_identity_t<T> value, Site site = Site::Here()) {
    Weakened<O, S>(Kind::kModify, site, [&]<Order Weak, Scope Narrow>() {
      port_.template RaiseTo<Weak, Narrow>(word, value, site);
    });
  }
  template <Order O, Scope S>
  void StorePair(uint64_t address, uint64_t low, uint64_t high, Site site = Site::Here()) {
    Weakened<O, S>(Kind::kStore, site, [&]<Order Weak, Scope Narrow>() {
      port_.template StorePair<Weak, Narrow>(address, low, high, site);
    });
  }
  template <Order O, Scope S, class T>
  T Exchange(Ref<T> word, std::type_identity_t<T> value, Site site = Site::Here()) {
    return Weakened<O, S>(Kind::kModify, site, [&]<Order Weak, Scope Narrow>() {
      return port_.template Exchange<Weak, Narrow>(word, value, site);
    });
  }
  // A point also when it is relaxed: that it is one operation matters too.
  template <Order O, Scope S, class T>
  T CompareExchange(Ref<T> word, std::type_identity_t<T> expected, std::type_identity_t<T> value,
                    Site site = Site::Here()) {
    switch (At(Kind::kModify, O, S, site)) {
      case Mutation::kPlainStore:
        port_.template Store<O, S>(word, value, site);
        return expected;
      case Mutation::kRelax:
        return port_.template CompareExchange<Order::kRelaxed, S>(word, expected, value, site);
      case Mutation::kNarrow:
        return port_.template CompareExchange<O, Narrower(S)>(word, expected, value, site);
      default:
        return port_.template CompareExchange<O, S>(word, expected, value, site);
    }
  }

  void StorePayload(uint64_t target, const void* source, uint64_t bytes, Site site = Site::Here()) {
    port_.StorePayload(target, source, bytes, site);
  }
  void LoadPayload(void* target, uint64_t source, uint64_t bytes, Site site = Site::Here()) {
    port_.LoadPayload(target, source, bytes, site);
  }
  void StoreWqe(const QpView& qp, uint64_t index, const abi::Segment* segments, uint32_t count,
                Site site = Site::Here()) {
    port_.StoreWqe(qp, index, segments, count, site);
  }

  void GatherInline(uint64_t bytes) { port_.GatherInline(bytes); }
  void Enter(Step step, Ref<uint64_t> word) { port_.Enter(step, word); }

  template <Order O, Scope S>
  void Fence(const QpView& qp, Site site = Site::Here()) {
    switch (At(Kind::kFence, O, S, site)) {
      case Mutation::kDrop:
        return;
      case Mutation::kAcquireHalf:
        return port_.template Fence<Order::kAcquire, S>(qp, site);
      case Mutation::kReleaseHalf:
        return port_.template Fence<Order::kRelease, S>(qp, site);
      case Mutation::kNarrow:
        return port_.template Fence<O, Narrower(S)>(qp, site);
      default:
        return port_.template Fence<O, S>(qp, site);
    }
  }
  template <Order O, Scope S>
  void StoreDoorbellRecord(const QpView& qp, uint32_t counter, Site site = Site::Here()) {
    Weakened<O, S>(Kind::kRecord, site, [&]<Order Weak, Scope Narrow>() {
      port_.template StoreDoorbellRecord<Weak, Narrow>(qp, counter, site);
    });
  }
  template <Order O, Scope S>
  void RingDoorbell(const QpView& qp, uint64_t value, Site site = Site::Here()) {
    Weakened<O, S>(Kind::kDoorbell, site, [&]<Order Weak, Scope Narrow>() {
      port_.template RingDoorbell<Weak, Narrow>(qp, value, site);
    });
  }

  uint64_t LoadCqeTail(uint64_t cq, uint32_t slot, Site site = Site::Here()) {
    return port_.LoadCqeTail(cq, slot, site);
  }
  uint64_t LoadCqeError(uint64_t cq, uint32_t slot, Site site = Site::Here()) {
    return port_.LoadCqeError(cq, slot, site);
  }

  void SyncWarp(Site site = Site::Here()) {
    const Mutation mutation = At(Kind::kSyncWarp, Order::kAcqRel, Scope::kCta, site);
    if (mutation == Mutation::kNoOrder) return port_.MeetWarp();
    port_.SyncWarp();
  }
  uint64_t Shuffle(uint64_t value, uint32_t source) { return port_.Shuffle(value, source); }
  uint32_t Ballot(bool predicate) { return port_.Ballot(predicate); }
  uint32_t Lane() const { return port_.Lane(); }
  uint32_t WarpSize() const { return port_.WarpSize(); }
  void SyncBlock() { port_.SyncBlock(); }
  uint64_t ShareInBlock(uint64_t value, uint32_t source) {
    return port_.ShareInBlock(value, source);
  }
  bool AnyInBlock(bool vote) { return port_.AnyInBlock(vote); }
  uint32_t ThreadInBlock() const { return port_.ThreadInBlock(); }
  uint32_t BlockSize() const { return port_.BlockSize(); }
  template <class T>
  void Expect(Ref<T> word, uint64_t value) {
    port_.Expect(word, value);
  }
  void ExpectCqe(uint64_t cq, uint32_t slot, uint64_t known, uint64_t target) {
    port_.ExpectCqe(cq, slot, known, target);
  }
  bool Relax(uint64_t deadline) { return port_.Relax(deadline); }
  uint64_t Now() const { return port_.Now(); }

 private:
  Mutation At(Kind kind, Order order, Scope scope, Site site) {
    return plan_.At({kind, order, scope, site, caller_, role_});
  }

  // Performs `access` with the order and the scope that are left of O and S.
  template <Order O, Scope S, class Access>
  auto Weakened(Kind kind, Site site, Access&& access) {
    if constexpr (O != Order::kRelaxed) {
      const Mutation mutation = At(kind, O, S, site);
      if (mutation == Mutation::kRelax) return access.template operator()<Order::kRelaxed, S>();
      if (mutation == Mutation::kNarrow) return access.template operator()<O, Narrower(S)>();
    }
    return access.template operator()<O, S>();
  }

  P& port_;
  Plan& plan_;
  Caller caller_;
  const char* role_ = "";
};

}  // namespace ringpost::mutation
