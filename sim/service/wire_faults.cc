#include "sim/service/wire_faults.h"

#include <algorithm>

namespace ringpost::sim::service {
namespace {

// Of no QP: what becomes of a packet whose ICRC does not hold. Nobody has QPN 0xffffff, which is
// that of multicasts, and slot 255 is attached last.
constexpr uint32_t kNobody = 0xffffff;

std::chrono::nanoseconds Ns(Duration duration) {
  return std::chrono::nanoseconds((duration.ps + 999) / 1000);
}

}  // namespace

WireFaults::WireFaults(const WireFaultSpec& spec)
    // Seeds of neighbouring runs differ in their low bits.
    : faults_(spec.seed ^ uint64_t{spec.node} << 48), node_(spec.node) {
  for (const FaultRule& rule : spec.rules) faults_.Add(rule);
}

void WireFaults::Put(const FaultPoint& point, Time now, Time& free, const Address& target,
                     const wire::Packet& packet) {
  const sim::Time at = At(now);
  const FaultVerdict verdict = faults_.Judge(FaultWhere::kWire, point, at);
  if (faults_.LinkIsDown(node_, at)) {
    ++count_.link_down;
    return;
  }
  if (verdict.lost) {
    ++count_.dropped;
    return;
  }
  if (verdict.delay.ps != 0) ++count_.delayed;
  if (verdict.held.ps != 0) ++count_.reordered;
  free = std::max(free, now) + Ns(verdict.delay);
  const Time due = free + Ns(verdict.held);
  if (verdict.corrupt) {
    ++count_.corrupted;
    wire::Packet unreadable = packet;
    unreadable.dest_qpn = kNobody;
    return Add(due, target, unreadable);
  }
  Add(due, target, packet);
  if (!verdict.again) return;
  ++count_.duplicated;
  Add(due + Ns(*verdict.again), target, packet);
}

bool WireFaults::Takes(Time now) {
  if (!faults_.LinkIsDown(node_, At(now))) return true;
  ++count_.link_down;
  return false;
}

// Counted from the beginning: picoseconds since the machine started do not fit for ever.
sim::Time WireFaults::At(Time now) {
  if (!begin_) begin_ = now;
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(now - *begin_).count() * 1000};
}

void WireFaults::Add(Time due, const Address& target, const wire::Packet& packet) {
  departures_.emplace(std::pair(due, order_++), Departure{target, packet});
}

const WireFaults::Departure* WireFaults::Due(Time now) const {
  if (departures_.empty() || departures_.begin()->first.first > now) return nullptr;
  return &departures_.begin()->second;
}

}  // namespace ringpost::sim::service
