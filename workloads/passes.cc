#include "workloads/passes.h"

#include <cmath>

namespace ringpost::workloads {
namespace {

constexpr double kSame = 0.01;

bool SameWithin(double a, double b) { return std::abs(a - b) < kSame; }

PassResult Difference(const PassResult& all, const PassResult& before) {
  return {all.seconds - before.seconds,
          all.payload_bytes - before.payload_bytes,
          all.packets - before.packets,
          all.acks - before.acks,
          all.requester_hits - before.requester_hits,
          all.requester_misses - before.requester_misses,
          all.responder_hits - before.responder_hits,
          all.responder_misses - before.responder_misses};
}

bool Same(const PassResult& a, const PassResult& b) {
  return SameWithin(a.RequestsPerSecond() / b.RequestsPerSecond(), 1) &&
         SameWithin(HitRate(a.requester_hits, a.requester_misses),
                    HitRate(b.requester_hits, b.requester_misses)) &&
         SameWithin(HitRate(a.responder_hits, a.responder_misses),
                    HitRate(b.responder_hits, b.responder_misses));
}

}  // namespace

double HitRate(uint64_t hits, uint64_t misses) {
  const uint64_t all = hits + misses;
  return all == 0 ? 1 : static_cast<double>(hits) / static_cast<double>(all);
}

PassResult Passes::Counted() const {
  PassResult all;
  all.seconds = static_cast<double>(fabric_.Clock().Now().ps) * 1e-12;
  for (uint32_t node = 0; node < fabric_.Nodes(); ++node) {
    const sim::Counters counters = fabric_.Counters(node);
    all.payload_bytes += counters.payload_bytes_sent;
    all.packets += counters.packets_sent;
    all.acks += counters.acks_sent;
    all.requester_hits += counters.requester_context_hits;
    all.requester_misses += counters.requester_context_misses;
    all.responder_hits += counters.responder_context_hits;
    all.responder_misses += counters.responder_context_misses;
  }
  return all;
}

bool Passes::Settles() {
  const uint64_t passes = all_.size();
  for (uint64_t window = 1; first_ + 2 * window < passes; window *= 2) {
    const PassResult& end = all_[passes - 1];
    const PassResult& middle = all_[passes - 1 - window];
    last_ = Difference(end, middle);
    if (Same(last_, Difference(middle, all_[passes - 1 - 2 * window]))) return true;
  }
  return false;
}

void Passes::End(uint64_t part) {
  if (ended_.size() <= part) ended_.resize(part + 1);
  if (++ended_[part] != threads_) return;
  if (++complete_ % kParts != 0) return;
  all_.push_back(Counted());
  settled_ = Settles();
  if (settled_) Stop();  // who is in the next pass already ends it
}

}  // namespace ringpost::workloads
