// moe_config.h: what moe_dispatch is asked for, as plain values.
#pragma once

#include <cstdint>

#include "configs/schema/words.h"

namespace ringpost::config {

struct MoeConfig {
  MoePattern pattern = MoePattern::kLowLatency;
  MoeRouting routing = MoeRouting::kUniform;
  uint64_t tokens = 0;  // of each rank
  uint64_t hidden_elements = 0;
  uint64_t element_bytes = 0;
  uint64_t experts = 0;  // of all ranks together
  uint64_t top_k = 0;    // experts of each token
  uint64_t chunk_tokens = 0;
  uint64_t ring_tokens = 0;
  uint64_t rounds = 0;  // measured
  bool operator==(const MoeConfig&) const = default;
};

}  // namespace ringpost::config
