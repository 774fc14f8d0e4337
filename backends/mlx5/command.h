// command.h: giving the device a command, and what it answers or why not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/mlx5/device.h"
#include "backends/mlx5/prm_commands.h"

namespace ringpost::mlx5 {

// A mailbox of zeros that begins with this command.
std::vector<uint8_t> Mailbox(prm::Opcode opcode, uint32_t bytes);

// The capabilities of a group, as they are now.
Result<std::vector<uint8_t>> QueryCaps(const Device& device, prm::CapGroup group);

// An object of the device, and its number (CQN, QPN).
struct Made {
  DevxObject object;
  uint32_t number = 0;
};

// `name` stands in messages: "CREATE_QP of 64 WQEBBs".
Result<Made> CreateObject(const Device& device, const std::string& name,
                          std::span<const uint8_t> command);
Result<bool> ModifyObject(const Device& device, const DevxObject& object, const std::string& name,
                          std::span<const uint8_t> command);

}  // namespace ringpost::mlx5
