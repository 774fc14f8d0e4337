// kinds.h: the workloads by name. Each runs on a prepared machine and adds its metrics.
#pragma once

#include "workloads/runner.h"
#include "workloads/setup.h"

namespace ringpost::workloads {

void RunPutLatency(Fabric& fabric, const config::Config& config, RunResult& result,
                   Outcome& outcome);
void RunRoundTrip(Fabric& fabric, const config::Config& config, RunResult& result,
                  Outcome& outcome);
void RunMessageRate(Fabric& fabric, const config::Config& config, RunResult& result,
                    Outcome& outcome);

}  // namespace ringpost::workloads
