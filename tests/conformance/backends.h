// backends.h: the backends that the conformance suite runs on, one fixture each (any_backend.h).
#pragma once

#include <tuple>

#include "tests/conformance/live_backend.h"
#if RINGPOST_CONFORMANCE_SIM
#include "tests/conformance/sim_backend.h"
#endif

namespace ringpost::conformance {

// backends/mlx5 stands here too once it is there.
#if RINGPOST_CONFORMANCE_SIM
using Backends = std::tuple<SimBackend, LiveBackend>;
// Those that can delay an answer.
using DelayingBackends = std::tuple<SimBackend>;
#else
// Under ThreadSanitizer: virtual time has one thread, and nothing to show it.
using Backends = std::tuple<LiveBackend>;
#endif

}  // namespace ringpost::conformance
