// live_fabric.h: several live NICs in this process, each with its own thread: for tests and
// benchmarks of real host threads.
//
//   auto fabric = LiveFabric::Make(2);
//   auto [first, second] = fabric.Value()->ConnectPair(0, 1, {}).Value();
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backends/live/live_nic.h"

namespace ringpost {

class LiveFabric {
 public:
  // A NIC for each of these. The LID of NIC i is i + 1, whatever they say. Placement::kGpu is host
  // memory here, unless they say that threads of a GPU post.
  static Result<std::unique_ptr<LiveFabric>> Make(std::vector<LiveNicOptions> nics);
  // Of equal ones.
  static Result<std::unique_ptr<LiveFabric>> Make(uint32_t nics, LiveNicOptions options = {});

  LiveNic& nic(uint32_t i) { return *nics_[i]; }
  uint32_t Nics() const { return static_cast<uint32_t>(nics_.size()); }

  // A QP at each NIC, connected.
  Result<std::pair<QpView, QpView>> ConnectPair(uint32_t first, uint32_t second,
                                                const QpSpec& spec);

 private:
  LiveFabric() = default;

  std::unique_ptr<sim::service::FabricSegment> segment_;
  std::vector<std::unique_ptr<LiveNic>> nics_;  // before the segment they leave
};

}  // namespace ringpost
