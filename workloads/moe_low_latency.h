// moe_low_latency.h: each token goes to each of its experts by itself.
//
// A block takes a token, copies it to the staging area, and each of its threads puts it to the next
// free slot that one of its experts has for this rank. Who has an expert's flag to send waits until
// all tokens for it are posted: the flag follows them on their queue, and has their count. A
// receiver has one expert's slots of one source, and copies them together when their flag is there.
#pragma once

#include "workloads/moe_thread.h"

namespace ringpost::workloads {

template <class P, class Publication, class Ordering, class Outcome>
class MoeLowLatency : MoeThread<P, Publication, Ordering, Outcome> {
  using Thread = MoeThread<P, Publication, Ordering, Outcome>;
  using Thread::a_;
  using Thread::port_;
  using Thread::times_;
  using typename Thread::Endpoints;

 public:
  using Thread::Thread;

  HOST_DEVICE void Run() {
    const uint32_t thread = port_.ThreadIndex(), threads = a_.blocks * a_.top_k;
    if (!SendTokens(thread / a_.top_k, port_.ThreadInBlock())) return;
    for (uint32_t expert = thread; expert < a_.experts; expert += threads) {
      if (!SendFlag(expert)) return;
    }
    for (uint64_t pair = thread; pair < uint64_t{a_.experts_of_rank} * a_.ranks; pair += threads) {
      if (!Receive(pair)) return;
    }
    for (uint32_t i = thread; i < a_.ranks * a_.qps; i += threads) {
      if (i / a_.qps == a_.rank) continue;
      Endpoints endpoint(port_, this->QueueTo(i / a_.qps, i % a_.qps));
      if (!this->Quieted(endpoint)) return;
    }
  }

 private:
  HOST_DEVICE bool SendTokens(uint32_t block, uint32_t place) {
    for (uint32_t token = block; token < a_.tokens; token += a_.blocks) {
      if (place == 0) this->Stage(token, a_.staging.address + token * a_.stride);
      // Orders the copy before what the block's other threads post of it.
      port_.SyncBlock();
      if (!SendTo(a_.routes[token * a_.top_k + place], token)) return false;
    }
    return true;
  }

  HOST_DEVICE bool SendTo(uint32_t expert, uint32_t token) {
    const uint32_t to = expert / a_.experts_of_rank, there = expert % a_.experts_of_rank;
    const uint64_t slot = port_.template FetchAdd<Order::kRelaxed, Scope::kGpu>(
        this->WordAt(a_.next_slot, expert), uint64_t{1});
    const uint64_t offset = ((uint64_t{there} * a_.ranks + a_.rank) * a_.tokens + slot) * a_.stride;
    const LocalSpan source{a_.staging.address + token * a_.stride, a_.MessageBytes(),
                           a_.staging.lkey};
    if (to == a_.rank) {
      port_.CopyPayload(a_.slots + offset, source.address, source.bytes);
    } else {
      Endpoints endpoint(port_, this->QueueTo(to, there));
      const Posted put = endpoint.Put(this->Behind(a_.targets[to].slots, offset), source);
      if (!this->Issued(put, Act::kPut)) return false;
    }
    // Release: orders this token before the expert's flag, whose sender acquires the count.
    port_.template FetchAdd<Order::kRelease, Scope::kGpu>(this->WordAt(a_.posted, expert),
                                                          uint64_t{1});
    return true;
  }

  HOST_DEVICE bool SendFlag(uint32_t expert) {
    const uint64_t count = a_.counts[expert];
    const Ref<uint64_t> posted = this->WordAt(a_.posted, expert);
    // Acquire: orders what the senders have posted or copied before the flag.
    while (port_.template Load<Order::kAcquire, Scope::kGpu>(posted) != count) {
      port_.Expect(posted, count);
      if (!port_.Relax(~0ull)) return false;
    }
    const uint32_t to = expert / a_.experts_of_rank, there = expert % a_.experts_of_rank;
    const uint64_t index = uint64_t{there} * a_.ranks + a_.rank;
    if (to == a_.rank) {
      // Release: orders what was copied here before the flag, on which the receiver relies.
      port_.template Store<Order::kRelease, Scope::kGpu>(this->WordAt(a_.flags, index), count + 1);
      return true;
    }
    Endpoints endpoint(port_, this->QueueTo(to, there));
    const RemoteSpan flag = this->Behind(a_.targets[to].flags, index * kMoeWordStride);
    return this->Issued(endpoint.PutValue(flag, count + 1), Act::kSignal);
  }

  // One expert's tokens of one source.
  HOST_DEVICE bool Receive(uint64_t pair) {
    const uint64_t flag = this->Await(this->WordAt(a_.flags, pair), 1);
    if (flag == 0) return false;
    times_.seen = port_.Now();
    const uint64_t count = flag - 1, expert = pair / a_.ranks;
    if (count == 0) return true;
    const uint64_t place = port_.template FetchAdd<Order::kRelaxed, Scope::kGpu>(
        this->WordAt(a_.arrived, expert), count);
    const uint64_t target = a_.output + (expert * a_.ranks * a_.tokens + place) * a_.stride;
    const uint64_t source = a_.slots + pair * a_.tokens * a_.stride;
    for (uint64_t i = 0; i < count; ++i) {
      port_.CopyPayload(target + i * a_.stride, source + i * a_.stride, a_.MessageBytes());
    }
    times_.copied = port_.Now();
    return true;
  }
};

}  // namespace ringpost::workloads
