// moe_thread.h: what threads that dispatch the tokens of a mixture of experts are given, and what
// both patterns do (moe_low_latency.h, moe_normal.h). Each message begins with a header that names
// its token. Blocks have a thread for each warp of a real one; who copies stands for all of them.
#pragma once

#include "transport/endpoint.h"
#include "workloads/outcome.h"

namespace ringpost::workloads {

struct MoeHeader {
  uint32_t token = 0;
  uint32_t rank = 0;
  uint64_t round = 0;
};
static_assert(sizeof(MoeHeader) == 16);

// Words that threads or NICs count with have lines of their own.
inline constexpr uint64_t kMoeWordStride = 64;

// Where a rank's peers put what they have for it.
struct MoeTarget {
  RemoteSpan slots;
  RemoteSpan flags;  // low latency: by expert here and source; normal: tails, by channel and source
  RemoteSpan heads;  // normal: by channel and peer
};

// One rank's part of one round. All that it points to outlives the kernel.
struct MoeArguments {
  uint32_t rank = 0, ranks = 0, tokens = 0;
  uint64_t round = 0;
  uint32_t blocks = 0;  // normal: channels
  uint32_t qps = 0;     // to each peer
  uint32_t top_k = 0, experts = 0, experts_of_rank = 0;
  uint32_t chunk = 0, ring = 0;        // normal: tokens
  uint64_t payload_bytes = 0;          // of a token
  uint64_t stride = 0;                 // of slots, and of tokens
  const QpView* views = nullptr;       // by peer, then queue; none to this rank
  const MoeTarget* targets = nullptr;  // by rank
  const uint32_t* routes = nullptr;    // low latency: experts, top_k of each token
  const uint32_t* counts = nullptr;    // low latency: tokens for each expert
  const uint32_t* order = nullptr;     // normal: tokens, by peer and then channel
  const uint32_t* first = nullptr;     // normal: where those of each begin in `order`, and the end
  const uint32_t* arrive = nullptr;    // normal: the same of `output`, by source and then channel
  uint64_t input = 0;                  // the tokens
  LocalSpan staging;
  uint64_t slots = 0, flags = 0, heads = 0;  // as in this rank's MoeTarget
  uint64_t output = 0;                       // what has arrived, copied together
  uint64_t next_slot = 0, posted = 0;        // low latency: counters by expert
  uint64_t arrived = 0;                      // low latency: counters by expert here

  HOST_DEVICE uint64_t MessageBytes() const { return sizeof(MoeHeader) + payload_bytes; }
};

// When a thread was where; 0: it never was. In picoseconds of its port.
struct MoeTimes {
  uint64_t start = 0;
  uint64_t issued = 0;  // its last WQE
  uint64_t seen = 0;    // its last flag
  uint64_t copied = 0;  // the last token that it received
  uint64_t messages = 0;
};

template <class P, class Publication, class Ordering, class Outcome>
class MoeThread {
 public:
  HOST_DEVICE MoeThread(P& port, const MoeArguments& arguments, MoeTimes& times, Outcome& outcome)
      : port_(port), a_(arguments), times_(times), outcome_(outcome) {
    times_.start = port_.Now();
  }

 protected:
  using Endpoints = Endpoint<P, Publication, Ordering>;

  static HOST_DEVICE Ref<uint64_t> WordAt(uint64_t base, uint64_t index) {
    return {base + index * kMoeWordStride};
  }
  static HOST_DEVICE RemoteSpan Behind(const RemoteSpan& base, uint64_t offset) {
    return {base.address + offset, base.rkey};
  }
  HOST_DEVICE QpTable QueueTo(uint32_t peer, uint32_t queue) const {
    return {&a_.views[uint64_t{peer} * a_.qps + queue % a_.qps], 1, 0, 1, 0};
  }

  // Waits until the word is at least `value`, and orders it before what it vouches for. Returns it;
  // 0: the run is being taken down.
  HOST_DEVICE uint64_t Await(Ref<uint64_t> word, uint64_t value) {
    uint64_t found = 0;
    while ((found = port_.template Load<Order::kRelaxed, Scope::kSystem>(word)) < value) {
      if (!port_.Relax(~0ull)) return 0;
    }
    // Any queue of this rank: a fence names one.
    Ordering::Acquire(port_, *QueueTo((a_.rank + 1) % a_.ranks, 0).views);
    return found;
  }

  // The token with its header, as it travels.
  HOST_DEVICE void Stage(uint32_t token, uint64_t target) {
    const MoeHeader header{token, a_.rank, a_.round};
    port_.StorePayload(target, &header, sizeof(header));
    port_.CopyPayload(target + sizeof(header), a_.input + token * a_.stride, a_.payload_bytes);
  }

  HOST_DEVICE bool Issued(const Posted& posted, Act act) {
    if (act == Act::kPut) ++times_.messages;
    times_.issued = port_.Now();
    return outcome_.Expect(posted.status, act);
  }
  HOST_DEVICE bool Quieted(Endpoints& endpoint) {
    return outcome_.Expect(endpoint.Quiet(CompletionScope::kSelectedQp), Act::kLastPut);
  }

  P& port_;
  const MoeArguments& a_;
  MoeTimes& times_;
  Outcome& outcome_;
};

}  // namespace ringpost::workloads
