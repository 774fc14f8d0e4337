// rank_workers.h: the points of a sweep in child processes of all ranks.
//
// Rank 0 hands a point to whichever rank has room, and alone reads the sweep and writes its
// results; the others know nothing but command lines.
#pragma once

#include <vector>

#include "tools/ringpost/sweep/ranks.h"
#include "tools/ringpost/sweep/workers.h"

namespace ringpost::tools {

// Of rank 0. `ranks` outlives it.
class RankWorkers final : public Workers {
 public:
  // `jobs` child processes of its own.
  RankWorkers(Ranks& ranks, size_t jobs);

  size_t Room() const override;
  size_t Running() const override;
  void Start(uint64_t point, const std::vector<std::string>& arguments) override;
  std::vector<Ended> Wait(int timeout_ms) override;

 private:
  Ranks& ranks_;
  LocalWorkers local_;
  std::vector<size_t> room_;  // of each rank, 0 until it has told; that of rank 0 is local_'s
  size_t remote_ = 0;         // points that run elsewhere
};

// Sends the other ranks home when it goes, so that none waits for a rank 0 that has refused its
// input, say.
class Dismissal final {
 public:
  // Of rank 0, or null where there is but one process.
  explicit Dismissal(Ranks* ranks) : ranks_(ranks) {}
  ~Dismissal();
  Dismissal(const Dismissal&) = delete;
  Dismissal& operator=(const Dismissal&) = delete;

 private:
  Ranks* ranks_;
};

// What every other rank does until rank 0 sends it home.
void ServePoints(Ranks& ranks, size_t jobs);

}  // namespace ringpost::tools
