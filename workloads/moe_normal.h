// moe_normal.h: each token goes once to each rank that has an expert of it.
//
// A block is a channel, with a sender for each peer and a receiver for each source. Tokens go in
// chunks through a ring at the receiver, whose tail follows each chunk on its queue; its head goes
// back when it has been copied, and frees the ring and the staging area behind it.
#pragma once

#include "workloads/moe_thread.h"

namespace ringpost::workloads {

template <class P, class Publication, class Ordering, class Outcome>
class MoeNormal : MoeThread<P, Publication, Ordering, Outcome> {
  using Thread = MoeThread<P, Publication, Ordering, Outcome>;
  using Thread::a_;
  using Thread::port_;
  using Thread::times_;
  using typename Thread::Endpoints;

 public:
  using Thread::Thread;

  HOST_DEVICE void Run() {
    const uint32_t place = port_.ThreadInBlock(), channel = port_.ThreadIndex() / (2 * a_.ranks);
    // Each rank begins behind itself, so that no two have the same peer at the same time.
    const uint32_t other = (a_.rank + 1 + place) % a_.ranks;
    if (other == a_.rank) {
      if (place < a_.ranks) Keep(channel);
    } else if (place < a_.ranks) {
      SendTo(other, channel);
    } else {
      ReceiveFrom(other, channel);
    }
  }

 private:
  // Lists of tokens are by rank and channel; rings and words by channel and rank.
  HOST_DEVICE uint64_t ListOf(uint32_t rank, uint32_t channel) const {
    return uint64_t{rank} * a_.blocks + channel;
  }
  HOST_DEVICE uint64_t RingOf(uint32_t rank, uint32_t channel) const {
    return uint64_t{channel} * a_.ranks + rank;
  }

  // What this rank has for itself.
  HOST_DEVICE void Keep(uint32_t channel) {
    const uint64_t list = ListOf(a_.rank, channel);
    const uint32_t count = a_.first[list + 1] - a_.first[list];
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t target = a_.output + uint64_t{a_.arrive[list] + i} * a_.stride;
      this->Stage(a_.order[a_.first[list] + i], target);
    }
    if (count > 0) times_.copied = port_.Now();
  }

  HOST_DEVICE void SendTo(uint32_t peer, uint32_t channel) {
    const uint64_t list = ListOf(peer, channel), own = RingOf(peer, channel);
    const uint64_t theirs = RingOf(a_.rank, channel);
    const uint32_t* tokens = a_.order + a_.first[list];
    const uint64_t count = a_.first[list + 1] - a_.first[list];
    Endpoints endpoint(port_, this->QueueTo(peer, channel));
    for (uint64_t sent = 0; sent < count;) {
      const uint64_t slot = sent % a_.ring;
      uint64_t some = count - sent < a_.chunk ? count - sent : a_.chunk;
      if (some > a_.ring - slot) some = a_.ring - slot;
      const uint64_t until = sent + some;
      if (until > a_.ring && this->Await(this->WordAt(a_.heads, own), until - a_.ring) == 0) return;
      const uint64_t staging = a_.staging.address + (own * a_.ring + slot) * a_.stride;
      for (; sent < until; ++sent) {
        this->Stage(tokens[sent], staging + (sent % a_.ring - slot) * a_.stride);
      }
      const RemoteSpan target =
          this->Behind(a_.targets[peer].slots, (theirs * a_.ring + slot) * a_.stride);
      const RemoteSpan tail = this->Behind(a_.targets[peer].flags, theirs * kMoeWordStride);
      const uint64_t bytes = (some - 1) * a_.stride + a_.MessageBytes();
      const Posted put = endpoint.PutSignal(target, {staging, bytes, a_.staging.lkey}, tail, sent);
      if (!this->Issued(put, Act::kPut)) return;
    }
    this->Quieted(endpoint);
  }

  HOST_DEVICE void ReceiveFrom(uint32_t source, uint32_t channel) {
    const uint64_t list = ListOf(source, channel), own = RingOf(source, channel);
    const uint64_t count = a_.arrive[list + 1] - a_.arrive[list];
    const RemoteSpan head =
        this->Behind(a_.targets[source].heads, RingOf(a_.rank, channel) * kMoeWordStride);
    Endpoints endpoint(port_, this->QueueTo(source, channel));
    for (uint64_t copied = 0; copied < count;) {
      const uint64_t tail = this->Await(this->WordAt(a_.flags, own), copied + 1);
      if (tail == 0) return;
      times_.seen = port_.Now();
      for (; copied < tail; ++copied) {
        port_.CopyPayload(a_.output + (a_.arrive[list] + copied) * a_.stride,
                          a_.slots + (own * a_.ring + copied % a_.ring) * a_.stride,
                          a_.MessageBytes());
      }
      times_.copied = port_.Now();
      const Posted posted = endpoint.PutValue(head, copied);
      if (!this->outcome_.Expect(posted.status, Act::kSignal)) return;
    }
    this->Quieted(endpoint);
  }
};

}  // namespace ringpost::workloads
