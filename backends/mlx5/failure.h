// failure.h: what a failing call comes to: one line with call, object, reason and what to do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "transport/result.h"

namespace ringpost::mlx5 {

// "mlx5_0: ibv_reg_mr of 4096 bytes: Cannot allocate memory (errno 12); raise ..."
// `remedy`, where given, stands for the one that the call and errno usually need.
Error CallFailed(std::string_view object, std::string_view call, int error,
                 std::string_view remedy = {});

// A command of DevX: also the status and syndrome that the device left in `answer`, where it was
// the device that refused.
Error CommandFailed(std::string_view object, std::string_view command, int error,
                    std::span<const uint8_t> answer);

}  // namespace ringpost::mlx5
