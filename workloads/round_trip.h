// round_trip.h: ping-pong between one thread of each rank, over a flag that each put raises.
#pragma once

#include "transport/endpoint.h"
#include "workloads/outcome.h"
#include "workloads/samples.h"

namespace ringpost::workloads {

struct RoundTripArguments {
  QpTable qps;
  RemoteSpan peer_flag;  // raised to the number of the round, from 1
  RemoteSpan peer_word;  // where the number goes where an add behind it raises the flag
  bool adds = false;
  Ref<uint64_t> my_flag;
  LocalSpan source;  // pointer payload; null address: inline
  uint64_t rounds = 0;
  uint64_t warm_up = 0;
  bool starts = false;
};

template <class E>
HOST_DEVICE Posted PutRound(E& endpoint, const RoundTripArguments& a, uint64_t round) {
  const bool is_pointer = a.source.address != 0;
  if (a.adds) {
    return is_pointer ? endpoint.PutSignalAdd(a.peer_word, a.source, a.peer_flag, 1)
                      : endpoint.PutValueSignalAdd(a.peer_word, round, a.peer_flag, 1);
  }
  return is_pointer ? endpoint.Put(a.peer_flag, a.source)
                    : endpoint.PutInline(a.peer_flag, &round, sizeof(round));
}

template <class P, class Publication, class Ordering, class Samples, class Outcome>
HOST_DEVICE void RoundTripKernel(P& port, const RoundTripArguments& a, Samples& samples,
                                 Outcome& outcome) {
  Endpoint<P, Publication, Ordering> endpoint(port, a.qps);
  for (uint64_t round = 1; round <= a.rounds; ++round) {
    if (!a.starts && !outcome.Expect(endpoint.WaitSignal(a.my_flag, round), Act::kSignal)) return;
    const uint64_t start = samples.Now(port);
    if (a.source.address != 0) port.StorePayload(a.source.address, &round, sizeof(round));
    const Posted posted = PutRound(endpoint, a, round);
    if (!outcome.Expect(posted.status, Act::kPut)) return;
    if (!a.starts) continue;
    if (!outcome.Expect(endpoint.WaitSignal(a.my_flag, round), Act::kSignal)) return;
    if (round > a.warm_up) samples.Add(samples.Now(port) - start);
  }
  outcome.Expect(endpoint.Flush(), Act::kLastPut);
}

}  // namespace ringpost::workloads
