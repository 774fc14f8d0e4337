// sim_words.h: how a GPU thread in virtual time reaches words that others share: when an access
// takes effect, what it costs, and where the thread meets the clock. The base of SimPort.
#pragma once

#include "sim/engine/check.h"
#include "sim/gpu/gpu.h"
#include "transport/abi/cqe.h"
#include "transport/port.h"

namespace ringpost {

class SimWords {
 public:
  explicit SimWords(sim::GpuThread& thread)
      : thread_(thread),
        memory_(thread.MyGpu().Ram()),
        costs_(thread.MyGpu().Costs().gpu),
        agent_(thread.Agent()) {}

  // No operation of a Port: a copy within GPU memory by as many threads as it takes to use that
  // memory's bandwidth, which all copies of the GPU share. Its stores are weak, and this thread's.
  void CopyPayload(uint64_t target, uint64_t source, uint64_t bytes, Site site = Site::Here()) {
    thread_.NoteEffect();
    thread_.Sync();
    sim::Gpu& gpu = thread_.MyGpu();
    void* const buffer = gpu.CopyBuffer(bytes);
    const bool read = memory_.Read(At(source, site), buffer, bytes);
    thread_.MoveTo(gpu.CopyEnds(thread_.Local(), bytes) + costs_.load_gpu);
    thread_.WeakStoresOutstanding() = true;
    const bool written = memory_.Write(At(target, site), buffer, bytes, costs_.fence_acq_rel_gpu);
    RINGPOST_CHECK(read && written, "a thread copied outside allocated memory");
  }
  // One store, of which a reader may see one word before the other.
  template <Order O, Scope S>
  void StorePair(uint64_t address, uint64_t low, uint64_t high, Site site = Site::Here()) {
    const sim::Duration way = (OnGpu(address) ? costs_.load_gpu : costs_.load_host) / 2;
    thread_.NoteEffect();
    if constexpr (O != Order::kRelaxed) FenceFor(O, S);
    memory_.Store(At(address + sizeof(low), site), high, sizeof(high), Order::kRelaxed, S, way);
    memory_.Store(At(address, site), low, sizeof(low), O, S, way);
    thread_.Spend(costs_.store_issue);
  }

 protected:
  sim::Access At(uint64_t address, Site site) const {
    return {agent_, address, thread_.Local(), site};
  }
  sim::Duration WayToNic() const { return thread_.MyGpu().Costs().path.doorbell_delivery; }
  sim::Time Clock() { return thread_.MyGpu().Clock().Now(); }

  bool OnGpu(uint64_t address) {
    const sim::Region* region = memory_.Space().Find(address, 1);
    return region == nullptr || region->home.kind == sim::HomeKind::kGpu;
  }

  uint64_t LoadShared(uint64_t address, uint32_t size, Order order, Scope scope, Site site) {
    const sim::Duration round_trip = OnGpu(address) ? costs_.load_gpu : costs_.load_host;
    thread_.Spend(round_trip / 2);
    thread_.Sync();
    thread_.NoteLoad(address);
    const uint64_t value = memory_.Load(At(address, site), size, order, scope);
    thread_.Spend(round_trip - round_trip / 2);
    return value;
  }

  void StoreShared(uint64_t address, uint64_t value, uint32_t size, Order order, Scope scope,
                   Site site) {
    thread_.NoteEffect();
    if (order != Order::kRelaxed) FenceFor(order, scope);
    const sim::Duration way = (OnGpu(address) ? costs_.load_gpu : costs_.load_host) / 2;
    memory_.Store(At(address, site), value, size, order, scope, way);
    thread_.Spend(costs_.store_issue);
  }

  template <Order O, Scope S, class T, class F>
  T Modify(Ref<T> word, Site site, F&& next) {
    return Atomic<O, S>(word, site, [&](const sim::Access& access) {
      return memory_.Modify(access, sizeof(T), O, S, next);
    });
  }

  // `perform` does it at the time at which the word is reached, and returns what was there.
  template <Order O, Scope S, class T, class F>
  T Atomic(Ref<T> word, Site site, F&& perform) {
    thread_.NoteEffect();
    if constexpr (O == Order::kRelease || O == Order::kAcqRel || O == Order::kSeqCst) {
      FenceFor(O, S);
    }
    const bool on_gpu = OnGpu(word.address);
    // The answer travels as that of a load; what an atomic takes longer, it takes before.
    const sim::Duration answer = (on_gpu ? costs_.load_gpu : costs_.load_host) / 2;
    thread_.Spend((on_gpu ? costs_.atomic_gpu : costs_.atomic_host) - answer);
    thread_.Sync();
    // One address serves one atomic at a time.
    const sim::Time served =
        memory_.ReserveAtomic(word.address, Clock(), costs_.atomic_same_address);
    if (Clock() < served) {
      thread_.MoveTo(served);
      thread_.Sync();
    }
    const T old = static_cast<T>(perform(At(word.address, site)));
    thread_.Spend(answer);
    return old;
  }

  void ExpectWord(uint64_t address, uint64_t value) {
    thread_.Expect(address, {[](uint64_t word, uint64_t a, uint64_t) { return word == a; }, value});
  }

  // As the transport's own loop decides whether a CQE takes it from `known` to `target`.
  template <class Masks>
  void ExpectTail(uint64_t cq, uint32_t slot, uint64_t known, uint64_t target) {
    const auto reaches = [](uint64_t tail, uint64_t from, uint64_t to) {
      const abi::CqeOpcode opcode = abi::TailOpcode(tail);
      if (opcode == abi::CqeOpcode::kInvalid) return false;
      return opcode == abi::CqeOpcode::kRequesterError ||
             from + ((abi::TailCounter(tail) + 1 - from) & Masks::kCounter) >= to;
    };
    thread_.Expect(cq + uint64_t{slot} * abi::kCqeBytes + abi::kCqeTailOffset,
                   {reaches, known, target});
  }

  // What a fence, or the fence inside a release, costs here.
  void FenceFor(Order order, Scope scope) {
    thread_.NoteEffect();
    thread_.Spend(costs_.Fence(order, scope, thread_.WeakStoresOutstanding()));
    const bool releases = order != Order::kAcquire && order != Order::kRelaxed;
    if (releases && scope >= Scope::kGpu) thread_.WeakStoresOutstanding() = false;
    // An acquire drops L1, so the next look at this thread's own words goes to L2.
    if (order == Order::kAcquire && scope >= Scope::kGpu) thread_.L1Cold() = true;
  }

  sim::GpuThread& thread_;
  sim::Memory& memory_;
  const sim::GpuCosts& costs_;
  sim::AgentId agent_;
};

}  // namespace ringpost
