// infinite.h: every context stays on chip; nothing ever misses, not even the first time.
#pragma once

#include "sim/cache/context_cache.h"

namespace ringpost::sim {

class InfiniteCache final : public ContextCache {
 public:
  Lookup Access(uint32_t) override { return Lookup::kHit; }
  uint64_t Evictions() const override { return 0; }
};

}  // namespace ringpost::sim
