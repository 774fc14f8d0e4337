// rnic.h: the NIC that a configuration asks for, for every backend that simulates one.
#pragma once

#include "configs/schema/config.h"
#include "sim/nic/rnic_config.h"

namespace ringpost::config {

// Behaviour and limits; slot and MTU are the backend's.
sim::RnicConfig RnicConfigOf(const NicConfig& nic);

}  // namespace ringpost::config
