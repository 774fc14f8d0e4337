// kinds.h: the workloads by name. Each runs on a prepared machine and adds its metrics.
#pragma once

#include "workloads/runner.h"
#include "workloads/setup.h"

namespace ringpost::workloads {

void RunPutLatency(Machine& machine, const config::Config& config, RunResult& result,
                   Outcome& outcome);
void RunRoundTrip(Machine& machine, const config::Config& config, RunResult& result,
                  Outcome& outcome);
void RunMessageRate(Machine& machine, const config::Config& config, RunResult& result,
                    Outcome& outcome);

// Of a simulated machine alone, for they ask its NICs. The first is connection_scaling and
// host_verbs.
void RunConnectionScaling(Fabric& fabric, const config::Config& config, RunResult& result,
                          Outcome& outcome);
void RunMoeDispatch(Fabric& fabric, const config::Config& config, RunResult& result,
                    Outcome& outcome);

// Of kernels alone: compute_caller and streaming_caller.
void RunCaller(Machine& machine, const config::Config& config, RunResult& result, Outcome& outcome);

}  // namespace ringpost::workloads
