// round_trip.h: ping-pong between one thread of each rank, over a flag that each put raises.
#pragma once

#include "transport/endpoint.h"
#include "workloads/outcome.h"
#include "workloads/samples.h"

namespace ringpost::workloads {

struct RoundTripArguments {
  QpTable qps;
  RemoteSpan peer_flag;  // raised to the number of the round, from 1
  Ref<uint64_t> my_flag;
  LocalSpan source;  // pointer payload; null address: inline
  uint64_t rounds = 0;
  uint64_t warm_up = 0;
  bool starts = false;
};

template <class P, class Publication, class Ordering, class Samples, class Outcome>
HOST_DEVICE void RoundTripKernel(P& port, const RoundTripArguments& a, Samples& samples,
                                 Outcome& outcome) {
  Endpoint<P, Publication, Ordering> endpoint(port, a.qps);
  for (uint64_t round = 1; round <= a.rounds; ++round) {
    if (!a.starts && !outcome.Expect(endpoint.WaitSignal(a.my_flag, round), Act::kSignal)) return;
    const uint64_t start = samples.Now(port);
    if (a.source.address != 0) port.StorePayload(a.source.address, &round, sizeof(round));
    const Posted posted = a.source.address != 0
                              ? endpoint.Put(a.peer_flag, a.source)
                              : endpoint.PutInline(a.peer_flag, &round, sizeof(round));
    if (!outcome.Expect(posted.status, Act::kPut)) return;
    if (!a.starts) continue;
    if (!outcome.Expect(endpoint.WaitSignal(a.my_flag, round), Act::kSignal)) return;
    if (round > a.warm_up) samples.Add(samples.Now(port) - start);
  }
  outcome.Expect(endpoint.Flush(), Act::kLastPut);
}

}  // namespace ringpost::workloads
