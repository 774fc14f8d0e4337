#include "backends/live/live_fabric.h"

namespace ringpost {
namespace {

constexpr uint32_t kRingCells = 1 << 13;

}  // namespace

Result<std::unique_ptr<LiveFabric>> LiveFabric::Make(uint32_t nics, LiveNicOptions options) {
  return Make(std::vector<LiveNicOptions>(nics, options));
}

Result<std::unique_ptr<LiveFabric>> LiveFabric::Make(std::vector<LiveNicOptions> nics) {
  auto segment = sim::service::FabricSegment::InProcess(kRingCells);
  if (!segment.Ok()) return Error{segment.Message()};
  std::unique_ptr<LiveFabric> fabric(new LiveFabric());
  fabric->segment_ = std::move(segment.Value());
  for (LiveNicOptions& options : nics) {
    const size_t number = fabric->nics_.size();
    options.gpu_is_host = !options.gpu_kernels;
    options.device = "live" + std::to_string(number);
    options.lid = static_cast<uint16_t>(number + 1);
    auto nic = LiveNic::Open(*fabric->segment_, options);
    if (!nic.Ok()) return Error{nic.Message()};
    fabric->nics_.push_back(std::move(nic.Value()));
  }
  return fabric;
}

Result<std::pair<QpView, QpView>> LiveFabric::ConnectPair(uint32_t first, uint32_t second,
                                                          const QpSpec& spec) {
  const uint32_t ends[2] = {first, second};
  QpAddress address[2];
  QpView view[2];
  for (int i = 0; i < 2; ++i) {
    const Result<QpAddress> made = nic(ends[i]).CreateQp(spec);
    if (!made.Ok()) return Error{made.Message()};
    address[i] = made.Value();
  }
  for (int i = 0; i < 2; ++i) {
    const Result<bool> connected = nic(ends[i]).Connect(address[i], address[1 - i]);
    if (!connected.Ok()) return Error{connected.Message()};
    view[i] = nic(ends[i]).View(address[i]).Value();
  }
  return std::pair{view[0], view[1]};
}

}  // namespace ringpost
