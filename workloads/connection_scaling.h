// connection_scaling.h: threads, or warps that post together, go through many queue pairs and put a
// few messages on each before the next: what a NIC with many active connections is asked for.
//
// A pass visits as many queues as the thread has, in the order asked for, a number of times over.
// Passes go on until whoever looks at them says that they are enough. Each message carries the word
// of its slot, so that the final memory can be checked.
#pragma once

#include "transport/endpoint.h"
#include "workloads/mixed.h"
#include "workloads/outcome.h"

namespace ringpost::workloads {

enum class VisitOrder : uint8_t { kRoundRobin, kStrided, kRandom, kZipf };

// A queue, and where its messages go: `slots` of `stride` bytes in turn.
struct Visit {
  QpView queue;
  RemoteSpan target;
};

struct VisitArguments {
  const Visit* visits = nullptr;  // the thread's own
  uint32_t count = 0;
  uint32_t rounds = 1;  // through all of them, a pass
  uint32_t posts = 0;   // a visit; of a warp, by all its lanes together
  VisitOrder order = VisitOrder::kRoundRobin;
  bool when_completed = false;  // a visit waits until what was put before is complete
  uint32_t slots = 1;           // a power of two
  uint32_t stride = 64;
  uint32_t bytes = 8;
  LocalSpan source;  // pointer payloads; null address: inline
  uint64_t seed = 0;
};

HOST_DEVICE constexpr uint64_t SlotWord(uint64_t address) {
  return (address + 1) * 0x9e3779b97f4a7c15ull;
}

// Which of `count` queues is visited at step `step` of pass `pass`. Equal on every machine.
HOST_DEVICE uint32_t VisitAt(const VisitArguments& a, uint64_t pass, uint64_t step) {
  const uint64_t draw = Mixed(Mixed(a.seed + pass * 0x9e3779b97f4a7c15ull) + step);
  switch (a.order) {
    case VisitOrder::kStrided: {
      // A stride without a common divisor comes to each once.
      uint64_t stride = uint64_t{a.count} * 5 / 8 | 1;
      const auto divides = [&] {
        uint64_t x = a.count, y = stride;
        while (y != 0) {
          const uint64_t rest = x % y;
          x = y;
          y = rest;
        }
        return x == 1;
      };
      while (!divides()) stride += 2;
      return static_cast<uint32_t>(step * stride % a.count);
    }
    case VisitOrder::kRandom:
      return static_cast<uint32_t>(draw % a.count);
    case VisitOrder::kZipf: {
      // Octaves of ranks have the same chance, and so have ranks of one octave.
      uint32_t octaves = 0;
      while ((uint64_t{1} << octaves) <= a.count) ++octaves;
      const uint64_t first = uint64_t{1} << (draw % octaves);
      const uint64_t end = 2 * first - 1 < a.count ? 2 * first - 1 : a.count;
      return static_cast<uint32_t>(first - 1 + Mixed(draw) % (end - first + 1));
    }
    default:
      return static_cast<uint32_t>(step % a.count);
  }
}

template <class Endpoint>
HOST_DEVICE Posted PutInSlot(Endpoint& endpoint, const VisitArguments& a, const Visit& visit,
                             uint32_t message) {
  const RemoteSpan slot = {visit.target.address + (message & (a.slots - 1)) * a.stride,
                           visit.target.rkey};
  if (a.source.address != 0) return endpoint.Put(slot, {a.source.address, a.bytes, a.source.lkey});
  const uint64_t word = SlotWord(slot.address);
  return endpoint.PutInline(slot, &word, a.bytes);
}

// Waits for those that are behind, so that all do the same work at the same time. False: it is
// enough.
template <class P, class Passes>
HOST_DEVICE bool Begins(P& port, const VisitArguments& a, const Passes& passes, uint64_t part) {
  constexpr uint64_t kPausePs = 1'000'000, kMostPauses = 1'000'000;
  for (uint64_t i = 0; i < kMostPauses && passes.Goes(part); ++i) {
    if (passes.MayBegin(part)) return true;
    // A word that nobody writes: it waits until the pause is over.
    port.template Load<Order::kRelaxed, Scope::kGpu>(a.visits[0].queue.ringing);
    port.Relax(port.Now() + kPausePs);
  }
  return false;
}

// `passes` has kParts, and of a part, counted through all passes: Goes(part), MayBegin(part) and
// End(part), which one of a warp calls; and Stop().
template <class P, class Publication, class Ordering, class Passes, class Outcome>
HOST_DEVICE void ConnectionScalingKernel(P& port, const VisitArguments& a, Passes& passes,
                                         Outcome& outcome) {
  using Endpoints = Endpoint<P, Publication, Ordering>;
  const uint32_t lane = Publication::kWarpWide ? port.Lane() : 0;
  const uint32_t lanes = Publication::kWarpWide ? port.WarpSize() : 1;
  const uint64_t steps = uint64_t{a.count} * a.rounds;
  for (uint64_t part = 0;; ++part) {
    uint64_t begins = lane == 0 && Begins(port, a, passes, part) ? 1 : 0;
    if constexpr (Publication::kWarpWide) begins = port.Shuffle(begins, 0);
    if (begins == 0) break;
    const uint64_t pass = part / Passes::kParts, of_pass = part % Passes::kParts;
    const uint64_t end = steps * (of_pass + 1) / Passes::kParts;
    for (uint64_t step = steps * of_pass / Passes::kParts; step < end; ++step) {
      const Visit& visit = a.visits[VisitAt(a, pass, step)];
      Endpoints endpoint(port, QpTable{&visit.queue, 1, 0, 1, 0});
      if (a.when_completed && !outcome.Expect(endpoint.Flush(), Act::kPut)) return passes.Stop();
      for (uint32_t post = 0; post < a.posts; ++post) {
        const Posted posted = PutInSlot(endpoint, a, visit, post * lanes + lane);
        if (!outcome.Expect(posted.status, Act::kPut)) return passes.Stop();
      }
    }
    if (lane == 0) passes.End(part);
  }
  for (uint32_t i = 0; i < a.count; ++i) {
    Endpoints endpoint(port, QpTable{&a.visits[i].queue, 1, 0, 1, 0});
    if (!outcome.Expect(endpoint.Quiet(CompletionScope::kSelectedQp), Act::kLastPut)) return;
  }
}

}  // namespace ringpost::workloads
