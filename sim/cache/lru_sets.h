// lru_sets.h: keys in sets of equal size, each set in order of use: what set_associative and the
// levels of two_level keep their contexts in.
//
// A look-up compares the keys of one set, as hardware does at once; LruCache finds a key among
// many without that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/cache/cache_spec.h"
#include "sim/engine/random.h"

namespace ringpost::sim {

enum class SetHash : uint8_t {
  kModulo,  // neighbouring keys are in neighbouring sets
  kMix,     // as if at random
};

// Which of the sets a key may be in.
inline uint64_t SetIndex(uint32_t key, SetHash hash, uint64_t sets) {
  return (hash == SetHash::kMix ? Mix(key) : key) % sets;
}

inline SetHash SetHashOf(const CacheSpec& spec) {
  return spec.hash == "mix" ? SetHash::kMix : SetHash::kModulo;
}

class LruSets {
 public:
  LruSets(uint64_t entries, uint64_t ways, SetHash hash)
      : ways_(ways), hash_(hash), keys_(entries), filled_(entries / ways) {}

  // Makes `key` the one used last in its set; false if it is not there.
  bool Use(uint32_t key) {
    const std::span<uint32_t> set = Filled(SetOf(key));
    const auto found = std::find(set.begin(), set.end(), key);
    if (found == set.end()) return false;
    std::rotate(set.begin(), found, found + 1);
    return true;
  }

  // Takes in `key`, which is not there, as the one used last, and returns the one that had to go.
  std::optional<uint32_t> Insert(uint32_t key) {
    const uint64_t at = SetOf(key);
    std::optional<uint32_t> evicted;
    if (filled_[at] == ways_) {
      evicted = Filled(at).back();
    } else {
      ++filled_[at];
    }
    const std::span<uint32_t> set = Filled(at);
    std::shift_right(set.begin(), set.end(), 1);
    set.front() = key;
    return evicted;
  }

  // False if it was not there.
  bool Remove(uint32_t key) {
    const uint64_t at = SetOf(key);
    const std::span<uint32_t> set = Filled(at);
    const auto found = std::find(set.begin(), set.end(), key);
    if (found == set.end()) return false;
    std::shift_left(found, set.end(), 1);
    --filled_[at];
    return true;
  }

 private:
  uint64_t SetOf(uint32_t key) const { return SetIndex(key, hash_, filled_.size()); }
  std::span<uint32_t> Filled(uint64_t at) { return {keys_.data() + at * ways_, filled_[at]}; }

  uint64_t ways_;
  SetHash hash_;
  std::vector<uint32_t> keys_;    // `ways_` a set, of which the first `filled_`, used last first
  std::vector<uint32_t> filled_;  // of each set
};

}  // namespace ringpost::sim
