// launch.h: from names in a configuration to kernels on a backend: the one place that starts them.
#pragma once

#include <utility>

#include "transport/publication/pairs.h"
#include "workloads/setup.h"

namespace ringpost::workloads {

// Starts `kernel.template operator()<Publication, Ordering>(port)` on rank `rank`'s GPU. False if
// the configuration names a pair that is not built.
template <class Kernel>
bool LaunchOn(Fabric& fabric, uint32_t rank, const config::Config& config, uint32_t threads,
              Kernel kernel) {
  sim::LaunchShape shape;
  shape.threads = threads;
  shape.sms = static_cast<uint32_t>(config.workload.sms_count);
  shape.threads_per_block = ThreadsPerBlock(config, threads);
  return VisitPair(NameOf(config.transport.publication), NameOf(config.transport.ordering),
                   [&]<class Publication, class Ordering>() {
                     fabric.Launch(rank, shape, [kernel](SimPort& port) mutable {
                       kernel.template operator()<Publication, Ordering>(port);
                     });
                   });
}

}  // namespace ringpost::workloads
