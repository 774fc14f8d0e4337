// device_choice.h: which ports of the machine's RDMA devices are used: by driver, never by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/result.h"

namespace ringpost::mlx5 {

struct FoundPort {
  uint32_t number = 1;
  bool active = false;
  std::string state;  // "down", "init": for messages
};

struct FoundDevice {
  std::string name;
  bool supported = false;  // by the mlx5 driver of rdma-core
  std::string problem;     // why it could not be opened; empty: none
  std::vector<FoundPort> ports;
};

struct Choice {
  size_t device = 0;  // in the list of what was found
  uint32_t port = 0;
};

// The active mlx5 ports, in the order of `wanted`, else in the order found. An item of `wanted` is
// NAME, NAME:PORT, or one of these behind ^: not that. When none fits: one line with everything
// that was found, and why each was skipped.
Result<std::vector<Choice>> ChoosePorts(const std::vector<FoundDevice>& found,
                                        const std::vector<std::string>& wanted);

}  // namespace ringpost::mlx5
