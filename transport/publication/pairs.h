// pairs.h: the (publication, ordering) pairs that are instantiated, on every backend and in
// kernels.
//
// Each pair costs compile time and code in every workload, hence a list of 24 at most: every
// publication policy with orderings of the published libraries (LastWriter with NVSHMEM's),
// PerThread with all seven. OrderNone, the unsafe control, stands with one policy of each way to
// hand over: alone, by turns, by warps.
// VisitPair turns the two names of a configuration into the two types (host only):
//
//   VisitPair("per_thread", "gpu_fence", [&]<class Publication, class Ordering>() { ... });
#pragma once

#include <string_view>

#include "transport/ordering.h"
#include "transport/publication/batched.h"
#include "transport/publication/cooperative.h"
#include "transport/publication/last_writer.h"
#include "transport/publication/locked.h"
#include "transport/publication/ordered_handoff.h"
#include "transport/publication/per_thread.h"

namespace ringpost {

template <class PublicationPolicy, class OrderingPolicy>
struct Pair {
  using Publication = PublicationPolicy;
  using Ordering = OrderingPolicy;
};

template <class... EachPair>
struct PairList {
  static constexpr int kCount = sizeof...(EachPair);
};

using Pairs = PairList<Pair<PerThread, OrderNone>, Pair<PerThread, OrderGpuFence>,
                       Pair<PerThread, OrderGpuFenceDbrec>, Pair<PerThread, OrderGpuRelease>,
                       Pair<PerThread, OrderThreadfence>, Pair<PerThread, OrderSystemRelease>,
                       Pair<PerThread, OrderSystemFence>,                                     //
                       Pair<Batched, OrderGpuFence>,                                          //
                       Pair<Batched, OrderGpuRelease>, Pair<Batched, OrderSystemFence>,       //
                       Pair<OrderedHandoff, OrderNone>, Pair<OrderedHandoff, OrderGpuFence>,  //
                       Pair<OrderedHandoff, OrderGpuRelease>,
                       Pair<OrderedHandoff, OrderSystemFence>, Pair<Locked, OrderGpuFence>,  //
                       Pair<Locked, OrderGpuRelease>, Pair<Locked, OrderSystemFence>,        //
                       Pair<Cooperative, OrderNone>, Pair<Cooperative, OrderGpuFence>,       //
                       Pair<Cooperative, OrderGpuRelease>, Pair<Cooperative, OrderSystemFence>,
                       Pair<LastWriter, OrderGpuFence>, Pair<LastWriter, OrderThreadfence>,
                       Pair<LastWriter, OrderSystemFence>>;
static_assert(Pairs::kCount <= 24);

namespace pairs_detail {

template <class P, class F>
bool VisitIf(std::string_view publication, std::string_view ordering, F& f) {
  if (publication != P::Publication::kName || ordering != P::Ordering::kName) return false;
  f.template operator()<typename P::Publication, typename P::Ordering>();
  return true;
}

template <class F, class... EachPair>
bool VisitIn(PairList<EachPair...>, std::string_view publication, std::string_view ordering, F& f) {
  return (VisitIf<EachPair>(publication, ordering, f) || ...);
}

template <class F, class... EachPair>
void ForEachIn(PairList<EachPair...>, F& f) {
  (f.template operator()<typename EachPair::Publication, typename EachPair::Ordering>(), ...);
}

}  // namespace pairs_detail

// Calls f.operator()<Publication, Ordering>() for the named pair; false if there is no such pair.
template <class F>
bool VisitPair(std::string_view publication, std::string_view ordering, F&& f) {
  return pairs_detail::VisitIn(Pairs{}, publication, ordering, f);
}

// The same for all pairs, in the order of the list.
template <class F>
void ForEachPair(F&& f) {
  pairs_detail::ForEachIn(Pairs{}, f);
}

}  // namespace ringpost
