// circumstances.h: what a measured run ran on: the machine, and how its threads waited.
#pragma once

#include <vector>

#include "configs/schema/config.h"
#include "workloads/live_machine.h"
#include "workloads/runner.h"

namespace ringpost::workloads {

std::vector<Circumstance> CircumstancesOf(const config::Config& config, LiveMachine& machine);

}  // namespace ringpost::workloads
