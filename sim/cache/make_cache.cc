#include "sim/cache/context_cache.h"
#include "sim/cache/infinite.h"
#include "sim/cache/lru.h"

namespace ringpost::sim {

std::unique_ptr<ContextCache> MakeCache(const std::string& model, uint64_t entries_count) {
  if (model == "infinite") return std::make_unique<InfiniteCache>();
  if (model == "lru" && entries_count > 0) return std::make_unique<LruCache>(entries_count);
  return nullptr;
}

}  // namespace ringpost::sim
