// live_put_kernels.h: what live_put launches, free of CUDA's headers.
//
// A thread that posts measures by its own clock; a case that fails says why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/memory_span.h"
#include "transport/qp_view.h"

namespace ringpost::bench {

inline constexpr uint32_t kLivePuts = 4096;

struct LiveTimes {
  std::string refusal;  // empty: the rest holds
  double clock_mhz = 0;
  // Nanoseconds, sorted.
  std::vector<double> issue;
  std::vector<double> whole;
};

// One thread puts 8 bytes inline and waits, kLivePuts times after some more: `issue` until the put
// returns, `whole` until its completion is seen.
LiveTimes TimePuts(const std::string& ordering, const QpView& view, RemoteSpan target);

struct LiveFlags {
  QpView view;
  RemoteSpan peers;   // the flag of the peer
  uint64_t mine = 0;  // the flag that the peer writes
};

// Two kernels on this GPU hand a flag back and forth: `whole` is one round trip, without
// completions.
LiveTimes TimeRoundTrips(const std::string& ordering, const LiveFlags (&ranks)[2]);

// Each view has a thread that puts 8 bytes inline `puts` times, then waits for all. Messages a
// second of all together; 0 and a refusal if that failed.
double PutRate(const std::string& publication, const std::string& ordering,
               const std::vector<QpView>& views, RemoteSpan target, uint32_t puts,
               std::string* refusal);

}  // namespace ringpost::bench
