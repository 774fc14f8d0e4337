// sim_operations.h: what a library does beside the transport's own operations, done by a thread in
// virtual time: as the same operations of the thread would be, at the same costs.
#pragma once

#include "backends/sim/sim_words.h"
#include "sim/cost/operation_lists.h"
#include "sim/node/nic_node.h"
#include "transport/step.h"

namespace ringpost {

class SimOperations : public SimWords {
 public:
  SimOperations(sim::GpuThread& thread, sim::NicNode& nic, const sim::OperationLists* lists)
      : SimWords(thread), nic_(nic), lists_(lists) {}

  // Without lists: one branch.
  void Enter(Step step, Ref<uint64_t> word, Site site = Site::Here()) {
    if (lists_ == nullptr) return;
    for (const sim::Operation& operation : lists_->At(step)) {
      for (uint32_t i = 0; i < operation.count; ++i) Perform(operation.kind, word, site);
    }
  }

 protected:
  void RingNic(uint64_t value, const sim::Origin& origin) {
    rung_ = value;
    nic_.Doorbell(thread_.Local(), WayToNic(), value, origin);
    thread_.Spend(costs_.doorbell_store);
  }

  sim::NicNode& nic_;
  const sim::OperationLists* const lists_;

 private:
  template <Order O, Scope S>
  void Fence() {
    FenceFor(O, S);
    memory_.Fence(agent_, O, S);
  }

  void Perform(sim::OperationKind kind, Ref<uint64_t> word, Site site) {
    using enum sim::OperationKind;
    switch (kind) {
      case kLoadGpu:
        LoadShared(word.address, sizeof(uint64_t), Order::kRelaxed, Scope::kGpu, site);
        return;
      case kLoadLocal:
        return thread_.Spend(costs_.load_local);
      case kStore:
      case kStoreReleaseGpu: {
        const Order order = kind == kStore ? Order::kRelaxed : Order::kRelease;
        return StoreShared(word.address, 0, sizeof(uint64_t), order, Scope::kGpu, site);
      }
      case kAtomicGpu:
        Modify<Order::kRelaxed, Scope::kGpu, uint64_t>(word, site,
                                                       [](uint64_t old) { return old; });
        return;
      case kReductionGpu:  // changes nothing, so that there is nothing to do when it arrives
        thread_.NoteEffect();
        return thread_.Spend(costs_.store_issue);
      case kFenceCta:
        return Fence<Order::kAcqRel, Scope::kCta>();
      case kFenceAcqRelGpu:
        return Fence<Order::kAcqRel, Scope::kGpu>();
      case kFenceAcquire:
        return Fence<Order::kAcquire, Scope::kSystem>();
      case kFenceScGpu:
        return Fence<Order::kSeqCst, Scope::kGpu>();
      case kFenceAcqRelSystem:
        return Fence<Order::kAcqRel, Scope::kSystem>();
      case kFenceScSystem:
        return Fence<Order::kSeqCst, Scope::kSystem>();
      case kShuffle:
        return thread_.Spend(costs_.shuffle);
      case kSyncWarp:
        return thread_.Spend(costs_.warp_sync);
      case kRing:
        thread_.Sync();
        return RingNic(rung_, memory_.Release(agent_, Order::kRelaxed, Scope::kSystem, site));
    }
  }

  uint64_t rung_ = 0;  // the last doorbell
};

}  // namespace ringpost
