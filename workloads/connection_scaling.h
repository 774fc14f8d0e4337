// connection_scaling.h: threads, or warps that post together, go through many queue pairs and put a
// few messages on each before the next: what a NIC with many active connections is asked for.
//
// A pass visits as many queues as the thread has, in the order asked for, a number of times over.
// In the first each visit is a few messages, which wait until the NICs keep up: they then have met
// each context, and rings are empty, where a rush on cold caches would fill them all. Passes go on
// until whoever looks at them says that they are enough. Of passes that are too long only some
// visits are made behind the first, in the same order, so that between two visits of a queue all
// others have been visited. Each message carries the word of its slot, so that the final memory can
// be checked.
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
  uint32_t rounds = 1;       // through all of them, a pass
  uint64_t parts = 1;        // of a pass, of all threads alike
  uint32_t posts = 0;        // a visit; of a warp, by all its lanes together
  uint32_t first_posts = 0;  // a visit of the first pass
  uint32_t next_posts = 0;   // the one behind it, so that not all threads change queues at once
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

// Waits until the caller's thread may go on. False: it is enough.
template <class P, class Passes, class MayGoOn>
HOST_DEVICE bool Waits(P& port, const VisitArguments& a, const Passes& passes, uint64_t part,
                       const MayGoOn& may_go_on) {
  constexpr uint64_t kPausePs = 1'000'000, kMostPauses = 1'000'000;
  for (uint64_t i = 0; i < kMostPauses && passes.Goes(part); ++i) {
    if (may_go_on()) return true;
    // A word that nobody writes: it waits until the pause is over.
    port.template Load<Order::kRelaxed, Scope::kGpu>(a.visits[0].queue.ringing);
    port.Relax(port.Now() + kPausePs);
  }
  return false;
}

// `passes` has, of a part, counted through all passes: Goes(part), whether it is not enough;
// MayBegin(part) and, in the first pass, KeepsUp(), for which threads wait; End(part), which one of
// a warp calls. Post() is told of each message. Stop() ends all.
template <class P, class Publication, class Ordering, class Passes, class Outcome>
HOST_DEVICE void ConnectionScalingKernel(P& port, const VisitArguments& a, Passes& passes,
                                         Outcome& outcome) {
  using Endpoints = Endpoint<P, Publication, Ordering>;
  const uint32_t lane = Publication::kWarpWide ? port.Lane() : 0;
  const uint32_t lanes = Publication::kWarpWide ? port.WarpSize() : 1;
  const uint64_t pass = uint64_t{a.count} * a.rounds;
  // Of a warp lane 0 waits for all.
  const auto waits = [&](uint64_t part, const auto& may_go_on) {
    uint64_t goes = lane == 0 && Waits(port, a, passes, part, may_go_on) ? 1 : 0;
    if constexpr (Publication::kWarpWide) goes = port.Shuffle(goes, 0);
    return goes != 0;
  };
  for (uint64_t part = 0; waits(part, [&] { return passes.MayBegin(part); }); ++part) {
    const bool first = part < a.parts;
    const uint64_t end = pass * (part + 1) / a.parts;  // visits are counted through all passes
    for (uint64_t at = pass * part / a.parts; at < end; ++at) {
      if (first && !waits(part, [&] { return passes.KeepsUp(); })) break;
      const Visit& visit = a.visits[VisitAt(a, at / pass, at % pass)];
      Endpoints endpoint(port, QpTable{&visit.queue, 1, 0, 1, 0});
      if (a.when_completed && !outcome.Expect(endpoint.Flush(), Act::kPut)) return passes.Stop();
      const uint32_t posts = first ? a.first_posts : at == pass ? a.next_posts : a.posts;
      for (uint32_t post = 0; post < posts; ++post) {
        if constexpr (!Publication::kWarpWide) {  // lanes would not all see it at the same post
          if (!passes.Goes(part)) break;
        }
        const Posted posted = PutInSlot(endpoint, a, visit, post * lanes + lane);
        if (!outcome.Expect(posted.status, Act::kPut)) return passes.Stop();
        passes.Post();
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
