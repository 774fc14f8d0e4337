#include "backends/mlx5/configured.h"

#include <iostream>

namespace ringpost {

// Both have the words of the file in its order.
static_assert(static_cast<int>(config::Mlx5Route::kVerbs) == static_cast<int>(mlx5::Route::kVerbs));

Result<std::unique_ptr<Mlx5Nic>> OpenConfiguredMlx5Nic(const config::Config& config,
                                                       uint32_t rank) {
  Mlx5NicOptions options;
  options.gpu_is_host = true;
  options.device.devices = config.mlx5.devices;
  if (config.mlx5.gid_index) {
    options.device.gid_index = static_cast<uint32_t>(*config.mlx5.gid_index);
  }
  options.device.pkey_index = static_cast<uint16_t>(config.mlx5.pkey_index);
  options.device.route = static_cast<mlx5::Route>(config.mlx5.route);
  options.device.number = rank;
  options.note = [](const std::string& line) { std::cerr << "ringpost: " + line + "\n"; };
  return Mlx5Nic::Open(options);
}

}  // namespace ringpost
