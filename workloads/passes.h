// passes.h: what NICs do in whole passes of a workload, and when that no longer changes.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/sim/fabric.h"

namespace ringpost::workloads {

// Between the ends of two passes, of all NICs together.
struct PassResult {
  double seconds = 0;
  uint64_t payload_bytes = 0;
  uint64_t packets = 0;
  uint64_t acks = 0;  // among them
  uint64_t requester_hits = 0, requester_misses = 0;
  uint64_t responder_hits = 0, responder_misses = 0;

  double RequestsPerSecond() const { return static_cast<double>(packets - acks) / seconds; }
};

// Part of all, or 1 of none.
double HitRate(uint64_t hits, uint64_t misses);

// A part or a pass has ended when the last of all threads has posted it. Nobody is further ahead
// than a part. Used by simulated threads, which the system runs on one.
class Passes {
 public:
  static constexpr uint64_t kMost = 64;
  static constexpr uint64_t kParts = 8;

  // `first`: the earliest pass that may be the last, after rings have filled.
  Passes(Fabric& fabric, uint32_t threads, uint64_t first)
      : fabric_(fabric), threads_(threads), first_(first) {}

  bool Goes(uint64_t part) const { return part < end_; }
  bool MayBegin(uint64_t part) const { return part <= complete_ + 1; }
  void End(uint64_t part);
  void Stop() { end_ = 0; }

  // Whether a pass, or as many passes together as it takes to even out, were as those before within
  // 1 %; and the latter of them, in sum.
  bool Settled() const { return settled_; }
  const PassResult& Last() const { return last_; }
  uint64_t Count() const { return complete_ / kParts; }

 private:
  PassResult Counted() const;
  bool Settles();

  Fabric& fabric_;
  uint32_t threads_;
  uint64_t first_;
  uint64_t end_ = kMost * kParts;
  std::vector<uint32_t> ended_;  // threads, by part
  uint64_t complete_ = 0;        // parts that all have ended
  std::vector<PassResult> all_;  // what was counted up to the end of each pass
  PassResult last_;
  bool settled_ = false;
};

}  // namespace ringpost::workloads
