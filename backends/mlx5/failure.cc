#include "backends/mlx5/failure.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "backends/mlx5/prm_commands.h"

namespace ringpost::mlx5 {
namespace {

struct Remedy {
  std::string_view call;  // what its name contains; empty: any
  int error;
  std::string_view text;
};

// The first that fits.
constexpr Remedy kRemedies[] = {
    {"open_device", EACCES, "let this user open /dev/infiniband/uverbs*"},
    {"open_device", EPERM, "let this user open /dev/infiniband/uverbs*"},
    {"open_device", EOPNOTSUPP, "use firmware and a kernel with DevX, or mlx5.route: verbs"},
    {"reg_mr", ENOMEM, "raise the limit of locked memory: ulimit -l unlimited"},
    {"umem_reg", ENOMEM, "raise the limit of locked memory: ulimit -l unlimited"},
    {"reg_mr", EFAULT, "for GPU memory load nvidia-peermem, or use a driver that exports dma-bufs"},
    {"umem_reg", EFAULT,
     "for GPU memory load nvidia-peermem, or use a driver that exports dma-bufs"},
    {"dmabuf", EOPNOTSUPP, "dma-bufs need Linux 5.12 or newer, for DevX 6.1"},
    {"dmabuf", EPROTONOSUPPORT, "dma-bufs need Linux 5.12 or newer, for DevX 6.1"},
    {"alloc_uar", EOPNOTSUPP, "DevX needs a kernel and firmware that allow it to this user"},
    {"create_ah", ETIMEDOUT, "the peer's GID does not resolve: is it up, and on this network?"},
    {"create_ah", EHOSTUNREACH, "no route to the peer's GID; choose another mlx5.gid_index"},
    {"", EPERM, "the process lacks a right: try CAP_NET_RAW, or as root"},
    {"", ENOMEM, "memory or objects of the device are used up: use fewer or smaller queues"},
    {"", EOPNOTSUPP, "this kernel, firmware or rdma-core does not offer it; try mlx5.route: verbs"},
    {"", EINVAL, "the device refuses these values; `dmesg` may say more"},
};

std::string_view RemedyFor(std::string_view call, int error) {
  for (const Remedy& remedy : kRemedies) {
    if (remedy.error == error && call.find(remedy.call) != std::string_view::npos) {
      return remedy.text;
    }
  }
  return "`dmesg` may say more";
}

// What the device's command interface answers (PRM: command return statuses).
std::string_view StatusText(uint64_t status) {
  switch (status) {
    case 0x01:
      return "internal error";
    case 0x02:
      return "command not supported";
    case 0x03:
      return "bad parameter";
    case 0x04:
      return "firmware not in operation";
    case 0x05:
      return "no such resource";
    case 0x06:
      return "resource is busy";
    case 0x08:
      return "above a limit";
    case 0x09:
      return "resource is in another state";
    case 0x0a:
      return "bad index";
    case 0x0f:
      return "no resources are left";
    case 0x10:
      return "QP is in another state";
    case 0x50:
      return "bad length of the command";
    case 0x51:
      return "bad length of the answer";
    default:
      return "unknown status";
  }
}

}  // namespace

Error CallFailed(std::string_view object, std::string_view call, int error,
                 std::string_view remedy) {
  // Functions of rdma-core return errno or its negative.
  const int number = error < 0 ? -error : error;
  return Error{fmt::format("{}: {}: {} (errno {}); {}", object, call, std::strerror(number), number,
                           remedy.empty() ? RemedyFor(call, number) : remedy)};
}

Error CommandFailed(std::string_view object, std::string_view command, int error,
                    std::span<const uint8_t> answer) {
  const uint64_t status = prm::Get(answer, prm::kStatus);
  if (status == 0) return CallFailed(object, command, error);
  return CallFailed(
      object,
      fmt::format("{}: the device says {} (status {:#04x}, syndrome {:#010x})", command,
                  StatusText(status), status, prm::Get(answer, prm::kSyndrome)),
      error, "look the syndrome up with NVIDIA, or in `dmesg`");
}

}  // namespace ringpost::mlx5
