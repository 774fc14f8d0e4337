// random.h: seeded randomness that is the same on every machine.
//
// Rng is SplitMix64: one 64-bit state, good enough to choose schedules and faults. A stream is
// named, so that adding one does not shift the numbers of another. Mix is a stateless hash, for
// choices that must not depend on the order of calls.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringpost::sim {

constexpr uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

class Rng {
 public:
  Rng(uint64_t seed, std::string_view stream) : state_(seed) {
    for (const char c : stream) state_ = Mix(state_ ^ static_cast<unsigned char>(c));
  }

  uint64_t Next() { return Mix(state_++); }
  // Uniform in [0, bound); bound > 0. The bias for bounds below 2^32 is under 2^-32.
  uint64_t Below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }

 private:
  uint64_t state_;
};

}  // namespace ringpost::sim
