// worker.h: what a thread of the host does for a proxy: it takes operations out of rings, posts
// them on its queue pairs, and tells the producers what has completed.
//
//   Serve(port, share);
//
// One thread runs a worker, and alone touches its share meanwhile; then another may go on. A turn
// that finds nothing to do has no effect, so that a thread in virtual time may park.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "transport/proxy/chained.h"
#include "transport/proxy/post.h"
#include "transport/proxy/ring.h"
#include "transport/proxy/share.h"

namespace ringpost::proxy {

template <class P>
class Worker {
 public:
  Worker(P& port, Share& share) : port_(port), share_(share) {
    for (Lane& lane : share.lanes) posters_.push_back(std::make_unique<LanePoster>(port, lane.qp));
    chained_.resize(share.lanes.size());
  }
  Worker(const Worker&) = delete;

  void Turn() {
    for (uint32_t i = 0; i < share_.lanes.size(); ++i) Collect(i);
    for (uint32_t i = 0; i < share_.rings.size(); ++i) Take(i);
    for (uint32_t i = 0; i < share_.lanes.size(); ++i) Announce(i);
  }

 private:
  // Queue pairs of a worker are in host memory or rung by the host: system scope.
  using Ordering = OrderSystemFence;
  using LanePoster = Poster<P, Chained, Ordering>;

  // Completions of a lane, up to what one look at its CQ tells.
  void Collect(uint32_t index) {
    Lane& lane = share_.lanes[index];
    if (lane.in_flight.empty() || lane.failed) return;
    LanePoster& poster = *posters_[index];
    // A post that waited for room has seen completions too.
    uint64_t seen = poster.Own().held ? poster.Own().room - lane.qp.depth : 0;
    if (seen > lane.completed) return Completed(index, seen);
    const Completion polled =
        PollOnce<Ordering>(port_, lane.qp, poster.Own(), lane.completed, lane.completed + 1, &seen);
    if (!polled.Ok()) return Fail(index, polled);
    if (seen != 0) Completed(index, seen);
  }

  void Completed(uint32_t index, uint64_t seen) {
    // Orders the CQE, and what the NIC has written before it, before the counters.
    Ordering::Acquire(port_, share_.lanes[index].qp);
    SetCompleted(index, seen);
    Tell(index);
  }

  void SetCompleted(uint32_t index, uint64_t seen) {
    Lane& lane = share_.lanes[index];
    Indices& own = posters_[index]->Own();
    lane.completed = seen;
    RaiseIndex(port_, lane.qp, lane.qp.completed, seen);
    if (seen + lane.qp.depth > own.room) own.room = seen + lane.qp.depth;
  }

  // Of each ring with operations that have completed, the end of the last one, once.
  void Tell(uint32_t index) {
    Lane& lane = share_.lanes[index];
    told_.clear();
    while (!lane.in_flight.empty() && lane.in_flight.front().confirmed <= lane.completed) {
      const InFlight& first = lane.in_flight.front();
      ServedRing& ring = share_.rings[first.ring];
      if (ring.completed == ring.told) told_.push_back(&ring);
      ring.completed = first.end;
      lane.in_flight.pop_front();
    }
    for (ServedRing* ring : told_) {
      ring->told = ring->completed;
      // Release: orders what the NIC has brought before the counter; the producer relies on it.
      if (ring->failed) continue;
      port_.template Store<Order::kRelease, Scope::kSystem>(ring->view.completed, ring->completed);
    }
  }

  // The lane posts no more; its rings are told. A flushed WQE does not tell which one failed.
  void Fail(uint32_t index, const Completion& why) {
    Lane& lane = share_.lanes[index];
    if (why.status == Status::kErrorCompletion) {
      Ordering::Acquire(port_, lane.qp);
      const bool flushed = why.syndrome == static_cast<uint8_t>(abi::Syndrome::kFlushed);
      if (!flushed && why.wqe_index > lane.completed) SetCompleted(index, why.wqe_index);
      Tell(index);
    }
    lane.failed = true;
    for (ServedRing& ring : share_.rings) {
      if (ring.lane == index) FailRing(ring, why);
    }
  }
  void FailRing(ServedRing& ring, const Completion& why) {
    if (ring.failed) return;
    ring.failed = true;
    const uint64_t word = FailureWord(why, ring.completed);
    port_.template Store<Order::kRelease, Scope::kSystem>(ring.view.completed, word);
  }

  // Operations that are in a ring, up to a batch.
  void Take(uint32_t index) {
    ServedRing& ring = share_.rings[index];
    const uint64_t first = ring.next;
    // Nothing comes of it any more, but a turn that looks at nothing would have nothing to park on.
    Slot unused;
    if (ring.failed) LoadSlot(port_, ring.view, first, &unused);
    for (uint32_t taken = 0; taken < share_.batch && !ring.failed; ++taken) {
      if (!TakeOne(index)) break;
    }
    // Release: orders the reads of the slots before the progress, for who fills them again.
    if (ring.next == first || ring.failed) return;
    port_.template Store<Order::kRelease, Scope::kSystem>(ring.view.published, ring.next);
  }

  bool TakeOne(uint32_t index) {
    ServedRing& ring = share_.rings[index];
    Slot slot;
    while (LoadSlot(port_, ring.view, ring.next, &slot)) {
      if (FormOf(slot.low) == Form::kKeys) {
        ring.rkey = static_cast<uint32_t>(slot.low);
        ring.lkey = static_cast<uint32_t>(slot.high);
        ++ring.next;
        continue;
      }
      Head head = ReadHead(slot, ring.rkey, ring.lkey);
      for (uint32_t i = 1; i < head.slots; ++i) {
        if (!LoadSlot(port_, ring.view, ring.next + i, &slot)) return false;
        ReadTail(head.request, slot, i, payload_);
      }
      if (head.slots == 1) std::memcpy(payload_, &head.request.a, sizeof(head.request.a));
      return HasRoom(ring.lane, head.request) && PostFor(index, head);
    }
    return false;
  }

  // Whether the request can be posted without a wait.
  bool HasRoom(uint32_t index, const Request& request) {
    const Lane& lane = share_.lanes[index];
    LanePoster& poster = *posters_[index];
    const uint64_t reserved = poster.Own().held ? poster.Own().reserved : lane.completed;
    return reserved + BlocksOf(poster, request) <= lane.completed + lane.qp.depth;
  }

  bool PostFor(uint32_t index, const Head& head) {
    ServedRing& ring = share_.rings[index];
    LanePoster& poster = *posters_[ring.lane];
    if (head.request.fence) poster.FenceNext();
    const Posted posted = PostRequest(poster, head.request, payload_);
    if (!posted.status.Ok()) {
      Fail(ring.lane, posted.status);
      return false;
    }
    ring.next += head.slots;
    share_.lanes[ring.lane].in_flight.push_back({posted.confirmed, index, ring.next});
    ++share_.operations;
    if (++chained_[ring.lane] >= share_.batch) Announce(ring.lane);
    return true;
  }

  // One doorbell for what is staged on a lane.
  void Announce(uint32_t index) {
    if (chained_[index] == 0) return;
    Lane& lane = share_.lanes[index];
    chained_[index] = 0;
    ++share_.doorbells;
    Chained::RingAll<Ordering>(port_, lane.qp, posters_[index]->Own(),
                               lane.in_flight.back().confirmed);
  }

  P& port_;
  Share& share_;
  std::vector<std::unique_ptr<LanePoster>> posters_;  // by lane, as is the next
  std::vector<uint32_t> chained_;                     // operations staged and not announced
  std::vector<ServedRing*> told_;
  unsigned char payload_[kMaxInlineBytes];
};

// Until the port's Relax says that it is over. What is in the rings by then is still posted; what
// that completes is not waited for. A worker that no ring has come to ends at once.
template <class P>
void Serve(P& port, Share& share) {
  if (share.rings.empty()) return;
  Worker<P> worker(port, share);
  do {
    worker.Turn();
  } while (port.Relax(~0ull));
  worker.Turn();
}

}  // namespace ringpost::proxy
