// configured.h: the mlx5 NIC that a configuration asks for.
#pragma once

#include <cstdint>
#include <memory>

#include "backends/mlx5/mlx5_nic.h"
#include "configs/schema/config.h"
#include "transport/result.h"

namespace ringpost {

// Of the rank with this number. GPU memory is host memory, as the kernels are host threads.
// Warnings go to stderr.
Result<std::unique_ptr<Mlx5Nic>> OpenConfiguredMlx5Nic(const config::Config& config, uint32_t rank);

}  // namespace ringpost
