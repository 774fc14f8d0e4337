// rnic_config.h: what one NIC is told when it is made: who it is, its limits, how it behaves.
#pragma once

#include <cstdint>

namespace ringpost::sim {

// Where a ConnectX is known to differ from the specification, and which of the two is meant:
//
//   what                               mlx5                              strict
//   local ACK timeout                  twice as long, code 16 at least   4.096 us * 2^code
//   retries before 0x15                retry_count timeouts              retry_count + 1
//   producer index on entering ERR     the doorbell record's alone       the doorbells' too
//   byte_count 0 in a data segment     2^31 bytes                        no bytes
enum class Behaviour : uint8_t { kMlx5, kStrict };

struct NicLimits {
  uint32_t qps = 65280;
  uint32_t cqs = 65536;
  uint32_t srqs = 65536;
  uint32_t sq_depth_wqebbs = 32768;
  uint32_t rq_depth_wqes = 32768;
  uint32_t srq_depth_wqes = 32768;
  uint32_t cq_entries = 4194304;
  uint32_t sges = 30;
  uint32_t inline_bytes = 956;
  uint32_t receive_wqe_bytes = 512;
  uint32_t rd_atomic = 16;
  uint32_t message_bytes = 1u << 30;
};

struct RnicConfig {
  uint8_t slot = 0;  // the upper 8 bits of all QPNs and keys of this NIC
  uint32_t mtu = 4096;
  // A requester asks for an acknowledgement at least once in so many packets, besides at the end
  // of each signalled WQE and of the last one announced.
  uint32_t packets_per_ack = 64;
  // On Ethernet: an address vector's bit for a GRH is reserved there, as every packet has one.
  bool routed = false;
  Behaviour behaviour = Behaviour::kMlx5;
  NicLimits limits = {};
};

}  // namespace ringpost::sim
