// launch.h: from names in a configuration to kernels on a backend: the one place that starts them.
#pragma once

#include <utility>

#include "transport/publication/pairs.h"
#include "workloads/setup.h"

namespace ringpost::workloads {

// Starts `kernel.template operator()<Publication, Ordering>(port, thread)` on the threads of rank
// `rank`, where that is here. False if the configuration names a pair that is not built.
template <class Kernel>
bool LaunchOn(Machine& machine, uint32_t rank, const config::Config& config, uint32_t threads,
              Kernel kernel) {
  sim::LaunchShape shape;
  shape.threads = threads;
  shape.sms = static_cast<uint32_t>(config.workload.sms_count);
  shape.threads_per_block = ThreadsPerBlock(config, threads);
  return VisitPair(NameOf(config.transport.publication), NameOf(config.transport.ordering),
                   [&]<class Publication, class Ordering>() {
                     if (!machine.Owns(rank)) return;
                     machine.Launch(rank, shape,
                                    {[kernel](SimPort& port) mutable {
                                       kernel.template operator()<Publication, Ordering>(
                                           port, port.ThreadIndex());
                                     },
                                     [kernel](HostPort& port, uint32_t thread) mutable {
                                       kernel.template operator()<Publication, Ordering>(port,
                                                                                         thread);
                                     }});
                   });
}

}  // namespace ringpost::workloads
