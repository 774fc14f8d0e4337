#include "configs/schema/rnic.h"

namespace ringpost::config {

sim::RnicConfig RnicConfigOf(const NicConfig& nic) {
  const bool strict = nic.behaviour == NicBehaviour::kStrict;
  sim::RnicConfig made;
  made.behaviour = strict ? sim::Behaviour::kStrict : sim::Behaviour::kMlx5;
  made.limits.qps = static_cast<uint32_t>(nic.limits.qps_count);
  made.limits.cqs = static_cast<uint32_t>(nic.limits.cqs_count);
  made.limits.sq_depth_wqebbs = static_cast<uint32_t>(nic.limits.sq_depth_wqebbs);
  made.limits.inline_bytes = static_cast<uint32_t>(nic.limits.inline_max_bytes);
  made.limits.message_bytes = static_cast<uint32_t>(nic.limits.message_max_bytes);
  made.limits.rd_atomic = static_cast<uint32_t>(nic.limits.rd_atomic_count);
  return made;
}

}  // namespace ringpost::config
