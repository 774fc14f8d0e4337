// put_latency.h: one thread, at most one put outstanding: issue, and put plus completion.
//
// Issue ends when the doorbell store has been issued; completion when the CQE has been read and
// what follows may use it. doorbell_to_cqe is the time between the two.
#pragma once

#include <cstring>

#include "transport/endpoint.h"
#include "workloads/outcome.h"
#include "workloads/samples.h"

namespace ringpost::workloads {

struct PutLatencyArguments {
  QpTable qps;
  RemoteSpan target;
  LocalSpan source;
  const void* inline_payload = nullptr;  // null: send behind the pointer
  uint32_t bytes = 0;
  uint64_t warm_up = 0;
  uint64_t operations = 0;
  CompletionScope completion = CompletionScope::kSelectedQp;
};

struct PutLatencySamples {
  template <class P>
  static uint64_t Now(P& port) {
    return port.Now();
  }
  void Add(uint64_t start, uint64_t issued, uint64_t completed) {
    issue.Add(issued - start);
    completion.Add(completed - start);
    doorbell_to_cqe.Add(completed - issued);
  }
  Samples issue;
  Samples completion;
  Samples doorbell_to_cqe;

  void Add(const PutLatencySamples& other) {
    issue.Add(other.issue);
    completion.Add(other.completion);
    doorbell_to_cqe.Add(other.doorbell_to_cqe);
  }
};

// What is put inline as one word is in a register: in memory, a GPU's thread would load it again
// for each put, from L2, as an acquire empties L1.
HOST_DEVICE uint64_t WordOf(const PutLatencyArguments& a) {
  uint64_t word = 0;
  if (a.inline_payload != nullptr && a.bytes == sizeof(word)) {
    memcpy(&word, a.inline_payload, sizeof(word));
  }
  return word;
}

template <class E>
HOST_DEVICE Posted PostOnce(E& endpoint, const PutLatencyArguments& a, uint64_t word) {
  if (a.inline_payload == nullptr) return endpoint.Put(a.target, a.source);
  if (a.bytes == sizeof(word)) return endpoint.PutValue(a.target, word);
  return endpoint.PutInline(a.target, a.inline_payload, a.bytes);
}

// `Samples` says by which clock, and keeps the times of a warp's first lane; `Outcome` keeps what
// went wrong.
template <class P, class Publication, class Ordering, class Samples, class Outcome>
HOST_DEVICE void PutLatencyKernel(P& port, const PutLatencyArguments& a, Samples& samples,
                                  Outcome& outcome) {
  Endpoint<P, Publication, Ordering> endpoint(port, a.qps);
  const uint64_t word = WordOf(a);
  for (uint64_t i = 0; i < a.warm_up + a.operations; ++i) {
    const uint64_t start = samples.Now(port);
    const Posted posted = PostOnce(endpoint, a, word);
    if (!outcome.Expect(posted.status, Act::kPut)) return;
    const uint64_t issued = samples.Now(port);
    const Completion done = a.completion == CompletionScope::kSelectedQp
                                ? endpoint.Wait(posted)
                                : endpoint.Quiet(a.completion);
    if (!outcome.Expect(done, Act::kPut)) return;
    const uint64_t completed = samples.Now(port);
    if (i >= a.warm_up && port.Lane() == 0) samples.Add(start, issued, completed);
  }
}

}  // namespace ringpost::workloads
