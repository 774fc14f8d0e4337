#include "backends/live/configured.h"

#include <utility>

#include "backends/live/live_nic.h"
#include "configs/schema/rnic.h"

namespace ringpost {

Result<std::unique_ptr<Nic>> OpenConfiguredLiveNic(const config::Config& config) {
  LiveNicOptions options;
  options.nic = config::RnicConfigOf(config.nic);
  auto nic = LiveNic::OpenOn({}, options);
  if (!nic.Ok()) return Error{nic.Message()};
  return std::unique_ptr<Nic>(std::move(nic.Value()));
}

}  // namespace ringpost
