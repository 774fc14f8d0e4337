// put_latency.h: one thread, at most one put outstanding: issue, and put plus completion.
//
// Issue ends when the doorbell store has been issued; completion when the CQE has been read and
// what follows may use it. doorbell_to_cqe is the time between the two.
#pragma once

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
  Samples issue;
  Samples completion;
  Samples doorbell_to_cqe;

  void Add(const PutLatencySamples& other) {
    issue.Add(other.issue);
    completion.Add(other.completion);
    doorbell_to_cqe.Add(other.doorbell_to_cqe);
  }
};

template <class P, class Publication, class Ordering>
void PutLatencyKernel(P& port, const PutLatencyArguments& a, PutLatencySamples& samples,
                      Outcome& outcome) {
  Endpoint<P, Publication, Ordering> endpoint(port, a.qps);
  for (uint64_t i = 0; i < a.warm_up + a.operations; ++i) {
    const uint64_t start = port.Now();
    const Posted posted = a.inline_payload != nullptr
                              ? endpoint.PutInline(a.target, a.inline_payload, a.bytes)
                              : endpoint.Put(a.target, a.source);
    if (!outcome.Expect(posted.status, "a put")) return;
    const uint64_t issued = port.Now();
    const Completion done = a.completion == CompletionScope::kSelectedQp
                                ? endpoint.Wait(posted)
                                : endpoint.Quiet(a.completion);
    if (!outcome.Expect(done, "a put")) return;
    const uint64_t completed = port.Now();
    if (i < a.warm_up || port.Lane() != 0) continue;
    samples.issue.Add(issued - start);
    samples.completion.Add(completed - start);
    samples.doorbell_to_cqe.Add(completed - issued);
  }
}

}  // namespace ringpost::workloads
