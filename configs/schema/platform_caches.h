// platform_caches.h: the keys of `caches` in a platform file, and where each goes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/cost/platform.h"

namespace ringpost::config {

// The cache of one kind of NIC state.
struct PlatformCache {
  const char* key;  // under `caches`
  sim::CacheSpec sim::Platform::*spec;
  sim::CacheTimes sim::Platform::*times;
  bool required = false;  // the others are infinite where they are not given
};

inline const std::vector<PlatformCache>& PlatformCaches() {
  using P = sim::Platform;
  static const std::vector<PlatformCache> caches = {
      {"requester_context", &P::requester_context, &P::requester_times, true},
      {"responder_context", &P::responder_context, &P::responder_times, true},
      {"mpt", &P::mpt, &P::mpt_times},
      {"mtt", &P::mtt, &P::mtt_times},
      {"wqe", &P::wqe, &P::wqe_times},
  };
  return caches;
}

// Null where none has this name.
inline const PlatformCache* FindPlatformCache(const std::string& key) {
  const auto& all = PlatformCaches();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&key](const PlatformCache& one) { return key == one.key; });
  return found == all.end() ? nullptr : &*found;
}

inline std::string PathOf(const PlatformCache& cache) {
  return fmt::format("caches.{}", cache.key);
}

// Whether the platform says something of it.
inline bool IsGiven(const PlatformCache& cache, const sim::Platform& platform) {
  const sim::CacheSpec& spec = platform.*(cache.spec);
  return cache.required || spec.model != "infinite" || !spec.shares.empty();
}

}  // namespace ringpost::config
