// message_rate.h: many threads put without waiting for each other; each thread's rate is taken
// from its first measured post to the completion of its last one, and the rates are added up.
// Where the messages of a warm-up, still queued, would be a good part of that (long ones of
// goodput, and what lies in a proxy's ring) the interval begins when they have completed.
//
// Message i of a thread carries Word(thread, i) and goes to slot i of the thread's own part of the
// target, modulo the number of slots, so that the final memory can be checked word by word.
#pragma once

#include "transport/endpoint.h"
#include "workloads/outcome.h"

namespace ringpost::workloads {

// What each message needs is in one line.
struct alignas(64) MessageRateArguments {
  RemoteSpan target;  // the thread's own `slots` slots of `stride` bytes
  uint32_t stride = 64;
  uint32_t slots = 1;  // a power of two
  uint64_t thread = 0;
  uint64_t warm_up = 0;
  uint64_t operations = 0;  // measured, of this thread
  uint32_t bytes = 8;
  bool drains = false;  // the warm-up completes before the interval begins
  LocalSpan source;     // pointer payloads: `stride` bytes; null address: inline
  QpTable qps;
};

struct ThreadRate {
  uint64_t start = 0;
  uint64_t end = 0;
};

HOST_DEVICE constexpr uint64_t PayloadWord(uint64_t thread, uint64_t message) {
  return (message + 1) * 0x9e3779b97f4a7c15ull ^ (thread << 40);
}

inline constexpr uint32_t kMaxInlineRateBytes = 220;

// An inline payload longer than a word repeats the message's word at its start.
template <class Endpoint>
HOST_DEVICE_SELDOM Posted PutLong(Endpoint& endpoint, RemoteSpan slot, uint64_t word,
                                  uint32_t bytes) {
  uint64_t payload[(kMaxInlineRateBytes + 7) / 8] = {word};
  return endpoint.PutInline(slot, payload, bytes);
}

template <class P, class Publication, class Ordering, class Outcome>
HOST_DEVICE void MessageRateKernel(P& port, const MessageRateArguments& a, ThreadRate& rate,
                                   Outcome& outcome) {
  Endpoint<P, Publication, Ordering> endpoint(port, a.qps);
  const uint64_t total = a.warm_up + a.operations;
  for (uint64_t i = 0; i < total; ++i) {
    if (i == a.warm_up) {
      if (a.drains &&
          !outcome.Expect(endpoint.Quiet(CompletionScope::kSelectedQp), Act::kLastPut)) {
        return;
      }
      rate.start = port.Now();
    }
    const RemoteSpan slot = {a.target.address + (i & (a.slots - 1)) * a.stride, a.target.rkey};
    const uint64_t word = PayloadWord(a.thread, i);
    Posted posted;
    if (a.source.address != 0) {
      // The payload is the same memory each time, written once: what moves is what counts here.
      posted = endpoint.Put(slot, {a.source.address, a.bytes, a.source.lkey});
    } else if (a.bytes <= sizeof(word)) {
      posted = endpoint.PutInline(slot, &word, a.bytes);
    } else {
      posted = PutLong(endpoint, slot, word, a.bytes);
    }
    if (!outcome.Expect(posted.status, Act::kPut)) return;
  }
  if (!outcome.Expect(endpoint.Quiet(CompletionScope::kSelectedQp), Act::kLastPut)) return;
  rate.end = port.Now();
}

}  // namespace ringpost::workloads
