// fault_rules.h: the faults that a configuration asks for, as simulated and live NICs take them.
#pragma once

#include <vector>

#include "configs/schema/config.h"
#include "sim/wire/faults.h"

namespace ringpost::config {

std::vector<sim::FaultRule> FaultRulesOf(const FaultsConfig& faults);

}  // namespace ringpost::config
