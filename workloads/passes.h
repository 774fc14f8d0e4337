// passes.h: what NICs do while a workload goes through its queues again and again, and when that no
// longer changes.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/sim/fabric.h"

namespace ringpost::workloads {

// Between the ends of two stretches, of all NICs together.
struct PassResult {
  double seconds = 0;
  uint64_t posted = 0;   // requests that threads posted, in packets
  uint64_t packets = 0;  // that NICs sent, of each once
  uint64_t acks = 0;     // among them, of either kind
  uint64_t requester_hits = 0, requester_misses = 0;
  uint64_t responder_hits = 0, responder_misses = 0;

  uint64_t Requests() const { return packets - acks; }
  double RequestsPerSecond() const { return static_cast<double>(Requests()) / seconds; }
};

// Part of all, or 1 of none.
double HitRate(uint64_t hits, uint64_t misses);

// What is counted together: a pass, or, where one is too long, some visits of it.
struct Stretches {
  uint32_t threads = 0;  // that post, of all ranks
  uint64_t pass_parts = 1;
  uint64_t parts = 1;        // of a stretch
  uint64_t packets = 1;      // of a message
  uint64_t first_visit = 1;  // messages of a visit in the first pass
  uint64_t skipped = 1;      // stretches in which what was before is still at work
  uint64_t most = 0;         // stretches, with the first pass
};

// A part, a pass or a stretch has ended when the last of all threads has posted it. Nobody is
// further ahead than a part. Used by simulated threads, which the system runs on one.
//
// Stretches come one after the other, and the first begins when a pass has brought each queue's
// context to the NICs. They are enough when one, or as many together as it takes to even out, is as
// that before: the same rate and hit rates within 1 %, at which NICs send what threads post, so
// that rings neither fill nor drain.
class Passes {
 public:
  Passes(Fabric& fabric, const Stretches& stretches) : fabric_(fabric), of_(stretches) {}

  bool Goes(uint64_t part) const { return part < end_; }
  bool MayBegin(uint64_t part) const { return part <= complete_ + 1; }
  // Whether NICs have sent what was posted, but for a visit of each thread.
  bool KeepsUp() const;
  // The caller has rung for a message.
  void Post() { posted_ += of_.packets; }
  void End(uint64_t part);
  void Stop() { end_ = 0; }

  bool Settled() const { return settled_; }
  // The latter of those that were the same, in sum, and how many stretches it is.
  const PassResult& Last() const { return last_; }
  uint64_t LastStretches() const { return last_stretches_; }
  // With the first pass.
  uint64_t Count() const { return all_.size(); }

 private:
  PassResult Counted() const;
  bool Settles();

  Fabric& fabric_;
  const Stretches of_;
  uint64_t posted_ = 0;
  uint64_t end_ = ~uint64_t{0};
  std::vector<uint32_t> ended_;  // threads, by part
  uint64_t complete_ = 0;        // parts that all have ended
  std::vector<PassResult> all_;  // what was counted up to the end of the first pass, and of each
                                 // stretch
  PassResult last_;
  uint64_t last_stretches_ = 0;
  bool settled_ = false;
};

}  // namespace ringpost::workloads
