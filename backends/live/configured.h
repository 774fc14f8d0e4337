// configured.h: the live NIC that a configuration asks for.
#pragma once

#include <memory>

#include "configs/schema/config.h"
#include "transport/nic.h"
#include "transport/result.h"

namespace ringpost {

// A slot of this user's machine: every process that calls it is a peer of the others.
Result<std::unique_ptr<Nic>> OpenConfiguredLiveNic(const config::Config& config);

}  // namespace ringpost
