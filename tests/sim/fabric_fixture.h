// fabric_fixture.h: a simulated machine of two nodes on P-IB, and what kernels of tests need of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/sim/fabric.h"
#include "configs/schema/platform_loader.h"
#include "transport/endpoint.h"
#include "transport/publication/cooperative.h"
#include "transport/publication/per_thread.h"

namespace ringpost {

inline const sim::Platform& PlatformIb() {
  static const sim::Platform platform = config::LoadPlatform("p_ib");
  return platform;
}

template <class Ordering = OrderGpuFence, class Publication = PerThread>
using TestEndpoint = Endpoint<SimPort, Publication, Ordering>;

// One pair of QPs between nodes 0 and 1, and a buffer of GPU memory on each.
struct FabricFixture {
  static constexpr uint64_t kBytes = 1 << 20;

  explicit FabricFixture(const FabricOptions& options = {}, const QpSpec& spec = {})
      : fabric(PlatformIb(), options),
        qps(fabric.ConnectPair(0, 1, spec)),
        local(fabric.nic(0).Allocate(Placement::kGpu, kBytes).Value()),
        remote(fabric.nic(1).Allocate(Placement::kGpu, kBytes).Value()),
        table{&qps.first, 1, 0, 1, 0},
        back{&qps.second, 1, 0, 1, 0} {}

  static std::vector<uint8_t> Pattern(uint64_t bytes, uint64_t seed) {
    std::vector<uint8_t> pattern(bytes);
    for (uint64_t i = 0; i < bytes; ++i) pattern[i] = static_cast<uint8_t>(i * 31 + i / 256 + seed);
    return pattern;
  }
  std::vector<uint8_t> BytesAt(uint64_t address, uint64_t bytes) {
    std::vector<uint8_t> found(bytes);
    fabric.Peek(address, found.data(), bytes);
    return found;
  }
  // Runs `kernel` on one thread of node 0.
  FabricRun RunOne(Fabric::Kernel kernel) {
    fabric.Launch(0, {}, std::move(kernel));
    return fabric.Run();
  }

  Fabric fabric;
  QpPair qps;
  RegisteredMemory local;
  RegisteredMemory remote;
  QpTable table;
  QpTable back;
};

}  // namespace ringpost
