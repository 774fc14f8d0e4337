// launch.h: from names in a configuration to kernels on a backend: the one place that starts them.
#pragma once

#include <memory>
#include <utility>

#include "transport/proxy/pairs.h"
#include "transport/publication/pairs.h"
#include "workloads/setup.h"

namespace ringpost::workloads {

// Starts `kernel.template operator()<Publication, Ordering>(port, thread)` on the threads of rank
// `rank`, where that is here; where they are a GPU's, kernel.OnGpu(gpu, grid). False if the
// configuration names a pair that is not built.
template <class Kernel>
bool LaunchOn(Machine& machine, uint32_t rank, const config::Config& config, uint32_t threads,
              Kernel kernel) {
  sim::LaunchShape shape;
  shape.threads = threads;
  shape.sms = static_cast<uint32_t>(config.workload.sms_count);
  shape.threads_per_block = ThreadsPerBlock(config, threads);
  const bool proxied = config.transport.path == config::TransportPath::kProxy;
  const GpuGrid grid{threads, shape.threads_per_block,
                     proxied ? NameOf(config.proxy.handoff) : NameOf(config.transport.publication),
                     proxied ? ProxyOrdering::kName : NameOf(config.transport.ordering)};
  const auto launch = [&]<class Publication, class Ordering>() {
    if (!machine.Owns(rank)) return;
    machine.Launch(rank, shape, grid,
                   {[kernel](SimPort& port) mutable {
                      kernel.template operator()<Publication, Ordering>(port, port.ThreadIndex());
                    },
                    [kernel](HostPort& port, uint32_t thread) mutable {
                      kernel.template operator()<Publication, Ordering>(port, thread);
                    },
                    [kernel](Gpu& gpu, const GpuGrid& where) { return kernel.OnGpu(gpu, where); }});
  };
  return proxied ? VisitHandoff(grid.publication, launch)
                 : VisitPair(grid.publication, grid.ordering, launch);
}

}  // namespace ringpost::workloads
