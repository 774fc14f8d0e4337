#include "backends/mlx5/command.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "backends/mlx5/failure.h"

namespace ringpost::mlx5 {

std::vector<uint8_t> Mailbox(prm::Opcode opcode, uint32_t bytes) {
  std::vector<uint8_t> mailbox(bytes);
  prm::Set(mailbox, prm::kOpcode, static_cast<uint64_t>(opcode));
  return mailbox;
}

Result<std::vector<uint8_t>> QueryCaps(const Device& device, prm::CapGroup group) {
  std::vector<uint8_t> command = Mailbox(prm::Opcode::kQueryHcaCap, prm::kQueryCapBytes);
  constexpr uint64_t kCurrent = 1;
  prm::Set(command, prm::kOpMod, static_cast<uint64_t>(group) << 1 | kCurrent);
  std::vector<uint8_t> answer(prm::kCapAnswerBytes);
  const int error = mlx5dv_devx_general_cmd(device.context(), command.data(), command.size(),
                                            answer.data(), answer.size());
  if (error != 0) return CommandFailed(device.Name(), "QUERY_HCA_CAP", error, answer);
  return std::vector<uint8_t>(answer.begin() + prm::kCapAt, answer.end());
}

Result<Made> CreateObject(const Device& device, const std::string& name,
                          std::span<const uint8_t> command) {
  std::vector<uint8_t> answer(prm::kAnswerBytes);
  Made made;
  made.object.reset(mlx5dv_devx_obj_create(device.context(), command.data(), command.size(),
                                           answer.data(), answer.size()));
  if (made.object == nullptr) return CommandFailed(device.Name(), name, errno, answer);
  made.number = static_cast<uint32_t>(prm::Get(answer, prm::kNumber));
  return made;
}

Result<bool> ModifyObject(const Device& device, const DevxObject& object, const std::string& name,
                          std::span<const uint8_t> command) {
  std::vector<uint8_t> answer(prm::kAnswerBytes);
  const int error = mlx5dv_devx_obj_modify(object.get(), command.data(), command.size(),
                                           answer.data(), answer.size());
  if (error != 0) return CommandFailed(device.Name(), name, error, answer);
  return true;
}

}  // namespace ringpost::mlx5
