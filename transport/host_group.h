// host_group.h: the collectives of a host thread: those of its warp, and those of its block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport/host_warp.h"

namespace ringpost {

class HostGroup {
 public:
  // A block of one warp.
  HostGroup(HostWarp& warp, uint32_t lane) : HostGroup(warp, lane, warp, lane) {}
  // Of a block of several warps, which meets as one.
  HostGroup(HostWarp& warp, uint32_t lane, HostWarp& block, uint32_t thread)
      : warp_(warp), lane_(lane), block_(block), thread_(thread) {}

  void SyncWarp() { warp_.Sync(); }

  uint64_t Shuffle(uint64_t value, uint32_t source) {
    return warp_.Exchange(lane_, value, [&](const auto& values) { return values[source]; });
  }

  uint32_t Ballot(bool vote) {
    return static_cast<uint32_t>(warp_.Exchange(lane_, vote, [&](const auto& values) {
      uint64_t votes = 0;
      for (uint32_t lane = 0; lane < warp_.lanes(); ++lane) votes |= values[lane] << lane;
      return votes;
    }));
  }

  uint32_t Lane() const { return lane_; }
  uint32_t WarpSize() const { return warp_.lanes(); }

  void SyncBlock() { block_.Sync(); }

  uint64_t ShareInBlock(uint64_t value, uint32_t source) {
    return block_.Exchange(thread_, value, [&](const auto& values) { return values[source]; });
  }

  bool AnyInBlock(bool vote) {
    const auto any = [](const auto& values) {
      return std::any_of(values.begin(), values.end(), [](uint64_t one) { return one != 0; });
    };
    return block_.Exchange(thread_, vote, any) != 0;
  }

  uint32_t ThreadInBlock() const { return thread_; }
  uint32_t BlockSize() const { return block_.lanes(); }

 private:
  HostWarp& warp_;
  const uint32_t lane_;
  HostWarp& block_;
  const uint32_t thread_;
};

}  // namespace ringpost
