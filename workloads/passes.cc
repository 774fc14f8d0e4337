#include "workloads/passes.h"

#include <cmath>

namespace ringpost::workloads {
namespace {

constexpr double kSame = 0.01;

bool SameWithin(double a, double b) { return std::abs(a - b) < kSame; }

PassResult Difference(const PassResult& all, const PassResult& before) {
  return {all.seconds - before.seconds,
          all.posted - before.posted,
          all.packets - before.packets,
          all.acks - before.acks,
          all.requester_hits - before.requester_hits,
          all.requester_misses - before.requester_misses,
          all.responder_hits - before.responder_hits,
          all.responder_misses - before.responder_misses};
}

// Rings have neither filled nor drained.
bool Balanced(const PassResult& a) {
  return SameWithin(static_cast<double>(a.Requests()) / static_cast<double>(a.posted), 1);
}

bool Same(const PassResult& a, const PassResult& b) {
  return SameWithin(a.RequestsPerSecond() / b.RequestsPerSecond(), 1) &&
         SameWithin(HitRate(a.requester_hits, a.requester_misses),
                    HitRate(b.requester_hits, b.requester_misses)) &&
         SameWithin(HitRate(a.responder_hits, a.responder_misses),
                    HitRate(b.responder_hits, b.responder_misses));
}

uint64_t AnswersOf(const sim::RnicCounters& counters) {
  return counters.acks_sent + counters.naks_sent + counters.rnr_naks_sent;
}

}  // namespace

double HitRate(uint64_t hits, uint64_t misses) {
  const uint64_t all = hits + misses;
  return all == 0 ? 1 : static_cast<double>(hits) / static_cast<double>(all);
}

PassResult Passes::Counted() const {
  PassResult all;
  all.seconds = static_cast<double>(fabric_.Clock().Now().ps) * 1e-12;
  all.posted = posted_;
  for (uint32_t node = 0; node < fabric_.Nodes(); ++node) {
    const sim::Counters counters = fabric_.Counters(node);
    all.packets += counters.packets_sent - counters.packets_retransmitted;
    all.acks += AnswersOf(counters);
    all.requester_hits += counters.requester_context_hits;
    all.requester_misses += counters.requester_context_misses;
    all.responder_hits += counters.responder_context_hits;
    all.responder_misses += counters.responder_context_misses;
  }
  return all;
}

bool Passes::KeepsUp() const {
  uint64_t sent = 0;
  for (uint32_t node = 0; node < fabric_.Nodes(); ++node) {
    const sim::RnicCounters& counters = fabric_.Node(node).Function().Count();
    sent += counters.packets_sent - counters.packets_retransmitted - AnswersOf(counters);
  }
  return posted_ <= sent + of_.threads * of_.first_visit * of_.packets;
}

// Of any length: where threads are faster than the NIC they may fill all rings in one pass and wait
// through the next ones, again and again, and that comes in threes where a turn takes three
// quarters of a ring.
bool Passes::Settles() {
  const uint64_t ends = all_.size();
  for (uint64_t window = 1; of_.skipped + 2 * window < ends; ++window) {
    const PassResult& middle = all_[ends - 1 - window];
    const PassResult before = Difference(middle, all_[ends - 1 - 2 * window]);
    last_ = Difference(all_[ends - 1], middle);
    last_stretches_ = window;
    if (Balanced(before) && Balanced(last_) && Same(before, last_)) return true;
  }
  return false;
}

void Passes::End(uint64_t part) {
  if (!Goes(part)) return;
  if (ended_.size() <= part) ended_.resize(part + 1);
  if (++ended_[part] != of_.threads) return;
  ++complete_;
  if (complete_ < of_.pass_parts || (complete_ - of_.pass_parts) % of_.parts != 0) return;
  all_.push_back(Counted());
  settled_ = Settles();
  if (settled_ || all_.size() == of_.most) Stop();
}

}  // namespace ringpost::workloads
