// proxy_config.h: the part of a configuration that is about proxies and the cores of their workers.
#pragma once

#include <cstdint>
#include <string>

#include "configs/schema/words.h"
#include "transport/qp_view.h"

namespace ringpost::config {

// Of transport.path: proxy alone.
struct ProxyConfig {
  uint64_t workers = 0;  // of each rank
  uint64_t batch = 0;    // operations for each doorbell
  ProxyHandoff handoff = ProxyHandoff::kTuned;
  bool blueflame = false;
  Placement counter = Placement::kHost;
  std::string affinity;  // nic_numa, inherit, or cores
};

struct HostConfig {
  ClockState clock_state = ClockState::kWarm;
};

}  // namespace ringpost::config
