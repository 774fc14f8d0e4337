// alone.h: the collectives of a thread that is its own warp and its own block.
#pragma once

#include <cstdint>

namespace ringpost {

struct Alone {
  void SyncWarp() {}
  uint64_t Shuffle(uint64_t value, uint32_t) { return value; }
  uint32_t Ballot(bool vote) { return vote ? 1 : 0; }
  uint32_t Lane() const { return 0; }
  uint32_t WarpSize() const { return 1; }
  void SyncBlock() {}
  uint64_t ShareInBlock(uint64_t value, uint32_t) { return value; }
  bool AnyInBlock(bool vote) { return vote; }
  uint32_t ThreadInBlock() const { return 0; }
  uint32_t BlockSize() const { return 1; }
};

}  // namespace ringpost
