// queue_commands.h: the mailboxes that make CQs and QPs and bring QPs up. They touch no device.
//
// Values are those of NVSHMEM and DOCA, which work on ConnectX-6 and later: optional-parameter
// masks stay 0, page sizes are the umem's.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/mlx5/device.h"
#include "transport/nic.h"

namespace ringpost::mlx5 {

// Memory of the device's view: a place in a umem.
struct UmemPlace {
  uint32_t umem = 0;
  uint64_t offset = 0;
};

struct CqPlan {
  UmemPlace ring;
  UmemPlace record;
  uint32_t entries = 1;    // a power of two
  bool collapsed = false;  // each entry goes to slot 0
  uint32_t uar_page = 0;
  uint32_t eqn = 0;
};
std::vector<uint8_t> CreateCqCommand(const CqPlan& plan);

struct QpPlan {
  TransportKind kind = TransportKind::kRc;
  UmemPlace ring;  // receives, then sends
  UmemPlace record;
  uint32_t send_wqebbs = 0;
  uint32_t receives = 0;  // 0: no receive queue
  uint32_t send_cq = 0;
  uint32_t receive_cq = 0;
  uint32_t pd = 0;
  uint32_t uar_page = 0;
};
std::vector<uint8_t> CreateQpCommand(const QpPlan& plan);

// What INIT, RTR and RTS say; the peer's QPN is of RC alone.
struct BringUpPlan {
  TransportKind kind = TransportKind::kRc;
  uint32_t qpn = 0;
  uint32_t peer_qpn = 0;
  Path path;
  std::array<uint8_t, 6> mac = {};  // of the next hop, on Ethernet
};
std::vector<uint8_t> InitCommand(const DeviceFacts& facts, const BringUpPlan& plan);
std::vector<uint8_t> ReceiveCommand(const DeviceFacts& facts, const BringUpPlan& plan);
std::vector<uint8_t> SendCommand(const DeviceFacts& facts, const BringUpPlan& plan);

// The UDP source port that spreads the flows of QPs over paths; from 0xc000.
uint16_t UdpSourcePort(uint32_t qpn, uint32_t peer_qpn);

// Timers and counts of every QP, by either route.
inline constexpr uint8_t kAckTimeout =
    14;  // 4.096 us times 2 to this power; firmware's floor is 16
inline constexpr uint8_t kRetries = 7;
inline constexpr uint8_t kRnrRetries = 7;  // for ever
inline constexpr uint8_t kMinRnrTimer = 12;
inline constexpr uint8_t kHopLimit = 64;

}  // namespace ringpost::mlx5
