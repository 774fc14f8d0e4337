// looks.h: the words that a thread has loaded in one turn of a waiting loop, and its watches of
// them.
//
// Most loops look at one or two: room for a few lies in the object, beside what else each turn
// touches. A thread that serves many has more (GrowTo).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/memory/memory.h"

namespace ringpost::sim {

class Looks {
 public:
  // `watch` is what each one's watch begins as.
  explicit Looks(const Watch& watch) { watches_.fill(watch); }

  // Before any of them watches.
  void GrowTo(uint32_t words) {
    if (words > kFew) more_.resize(words - kFew);
    for (Look& look : more_) look.watch = watches_[0];
  }
  uint32_t Most() const { return static_cast<uint32_t>(kFew + more_.size()); }

  LinePlace& Place(uint32_t i) { return i < kFew ? places_[i] : more_[i - kFew].place; }
  // Of the line, when it was loaded.
  uint32_t& Version(uint32_t i) { return i < kFew ? versions_[i] : more_[i - kFew].version; }
  Watch& WatchOf(uint32_t i) { return i < kFew ? watches_[i] : more_[i - kFew].watch; }

 private:
  static constexpr uint32_t kFew = 4;
  struct Look {
    LinePlace place;
    uint32_t version = 0;
    Watch watch;
  };
  std::array<LinePlace, kFew> places_{};
  std::array<uint32_t, kFew> versions_{};
  std::array<Watch, kFew> watches_;
  std::vector<Look> more_;
};

}  // namespace ringpost::sim
