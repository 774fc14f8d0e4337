#include "tests/conformance/sim_backend.h"

#include "configs/schema/platform_loader.h"

namespace ringpost::conformance {
namespace {

const sim::Platform& PlatformUnderTest() {
  static const sim::Platform platform = config::LoadPlatform("p_ib");
  return platform;
}

FabricOptions OptionsOf(const Conditions& conditions) {
  FabricOptions options;
  options.visibility =
      conditions.ordered ? sim::VisibilityMode::kTimed : sim::VisibilityMode::kStrict;
  options.stack_bytes = 64 * 1024;
  if (conditions.response_ps != 0) {
    sim::FaultRule rule;
    rule.amount = sim::Duration{static_cast<int64_t>(conditions.response_ps)};
    options.faults.push_back(rule);
  }
  return options;
}

}  // namespace

const std::vector<PairOf<SimPort>>& SimBackend::Pairs() {
  static const std::vector<PairOf<SimPort>> pairs = EveryPair<SimPort>();
  return pairs;
}

SimBackend::SimBackend(const Conditions& conditions)
    : ordered_(conditions.ordered), fabric_(PlatformUnderTest(), OptionsOf(conditions)) {}

void SimBackend::Launch(uint32_t node, const Shape& shape,
                        std::function<void(P&, uint32_t thread)> kernel) {
  sim::LaunchShape launch;
  launch.threads = shape.threads;
  launch.threads_per_block = shape.block;
  fabric_.Launch(node, launch,
                 [kernel = std::move(kernel)](P& port) { kernel(port, port.ThreadIndex()); });
}

std::string SimBackend::Run() {
  const FabricRun run = fabric_.Run();
  if (!run.ok) return run.error;
  if (ordered_ && fabric_.ViolationCount() != 0) return fabric_.Violations().front();
  return "";
}

}  // namespace ringpost::conformance
