// sim_host_port.h: the Port of a core of a simulated host, which may ring by BlueFlame.
#pragma once

#include "backends/sim/sim_port.h"

namespace ringpost {

class SimHostPort : public SimPort {
 public:
  using SimPort::SimPort;
  static constexpr bool kHasBlueFlame = true;
};
static_assert(Port<SimHostPort>);

}  // namespace ringpost
