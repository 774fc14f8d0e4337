#include "backends/live/configured.h"

#include <utility>

#include "backends/live/live_nic.h"

namespace ringpost {

Result<std::unique_ptr<Nic>> OpenConfiguredLiveNic(const config::Config& config) {
  LiveNicOptions options;
  if (config.nic.behaviour == config::NicBehaviour::kStrict) {
    options.nic.behaviour = sim::Behaviour::kStrict;
  }
  auto nic = LiveNic::OpenOn({}, options);
  if (!nic.Ok()) return Error{nic.Message()};
  return std::unique_ptr<Nic>(std::move(nic.Value()));
}

}  // namespace ringpost
