// ring_word.h: the word before each cell of a packet ring: who may touch the cell, and since when.
//
// A cell is free, or the first of a record that is reserved, committed, or to be skipped. The word
// holds the lap of the ring that it speaks of, so that a thread that slept for a whole lap changes
// nothing, and the producer, so that a reservation names its owner from its first instant on.
#pragma once

#include <cstdint>

namespace ringpost::sim::service {

// A slot of the fabric and how often it was given away: names one attachment.
struct Producer {
  uint8_t slot = 0;
  uint16_t generation = 0;

  bool operator==(const Producer&) const = default;
};

struct RingWord {
  enum State : uint8_t { kFree, kReserved, kCommitted, kSkipped };

  static constexpr uint32_t kMaxCells = (1u << 10) - 1;
  static constexpr uint64_t kLapMask = (uint64_t{1} << 28) - 1;

  State state = kFree;
  uint32_t cells = 0;
  Producer producer{};
  uint64_t lap = 0;  // 28 bits

  // All zeros are a free cell of the first lap.
  constexpr uint64_t Bits() const {
    return uint64_t{state} | uint64_t{cells} << 2 | uint64_t{producer.slot} << 12 |
           uint64_t{producer.generation} << 20 | (lap & kLapMask) << 36;
  }
  static constexpr RingWord Of(uint64_t bits) {
    return {static_cast<State>(bits & 3), static_cast<uint32_t>(bits >> 2 & kMaxCells),
            Producer{static_cast<uint8_t>(bits >> 12), static_cast<uint16_t>(bits >> 20)},
            bits >> 36};
  }
  static constexpr uint64_t Free(uint64_t lap) { return (lap & kLapMask) << 36; }

  bool operator==(const RingWord&) const = default;
};

}  // namespace ringpost::sim::service
