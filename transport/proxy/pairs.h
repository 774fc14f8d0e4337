// pairs.h: the hand-offs that are instantiated, each with the ordering that it needs (host only).
//
//   VisitHandoff("tuned", [&]<class Publication, class Ordering>() { ... });
#pragma once

#include <string_view>

#include "transport/proxy/endpoint.h"

namespace ringpost {

// Of memory that an operation reads, whatever the hand-off: the worker is outside GPU scope.
using ProxyOrdering = OrderSystemRelease;

// Calls f.operator()<Publication, Ordering>(); false if there is no such hand-off.
template <class F>
bool VisitHandoff(std::string_view handoff, F&& f) {
  if (handoff == proxy::Tuned::kName) {
    f.template operator()<Proxied<proxy::Tuned>, ProxyOrdering>();
  } else if (handoff == proxy::Baseline::kName) {
    f.template operator()<Proxied<proxy::Baseline>, ProxyOrdering>();
  } else {
    return false;
  }
  return true;
}

}  // namespace ringpost
