// home.h: where memory lives, as far as its cost and its visibility depend on it.
#pragma once

#include <cstdint>

namespace ringpost::sim {

enum class HomeKind : uint8_t { kGpu, kHost, kUar };

struct Home {
  HomeKind kind = HomeKind::kGpu;
  uint16_t node = 0;
  bool operator==(const Home&) const = default;
};

}  // namespace ringpost::sim
