#include "sim/service/paced_completions.h"

#include <algorithm>
#include <cstring>

namespace ringpost::sim::service {

void PacedCompletions::Announce(const QpContext& qp, uint64_t before, RealTime now) {
  const uint64_t until = qp.requester.producer;
  if (until == before) return;
  lanes_[qp.qpn].runs.push_back({until, pace_.Fetched(pace_.At(now), until - before)});
}

void PacedCompletions::Fetched(const QpContext& qp) {
  Lane& lane = lanes_[qp.qpn];
  const Requester& requester = qp.requester;
  const SendWqe& wqe = requester.window.At(requester.tail - 1);
  lane.dues.resize(qp.config.sq_wqebbs);
  // What was posted before the QP could send has no run of its own.
  const Time fetched = lane.runs.empty() ? lane.pace.serial_free : lane.runs.front().fetched;
  while (!lane.runs.empty() && lane.runs.front().until <= requester.fetched) lane.runs.pop_front();
  PacedWqe paced;
  paced.bytes = wqe.bytes;
  paced.packets = wqe.packets;
  paced.answered = wqe.Is(kWqeAnswered);
  paced.reads_payload =
      wqe.bytes != 0 && !wqe.Is(kWqeInline | kWqeAnswered | kWqeLocal | kWqeFailed);
  lane.dues[wqe.index & (lane.dues.size() - 1)] = pace_.Complete(lane.pace, fetched, paced);
  lane.fetched = static_cast<uint16_t>(requester.fetched);
}

void PacedCompletions::Hold(uint32_t qpn, uint64_t address, const void* cqe, RealTime now) {
  Lane& lane = lanes_[qpn];
  Cqe kept{qpn, address, {}};
  std::memcpy(kept.bytes.data(), cqe, kept.bytes.size());
  uint64_t tail = 0;
  std::memcpy(&tail, kept.bytes.data() + abi::kCqeTailOffset, sizeof(tail));
  const abi::CqeOpcode opcode = abi::TailOpcode(tail);
  const bool sent =
      opcode == abi::CqeOpcode::kRequester || opcode == abi::CqeOpcode::kRequesterError;
  RealTime due = now;
  // What was flushed before it was fetched has no time of its own.
  const auto ahead = static_cast<uint16_t>(lane.fetched - abi::TailCounter(tail));
  if (sent && !lane.dues.empty() && ahead != 0 && ahead <= lane.dues.size()) {
    due = pace_.Real(lane.dues[abi::TailCounter(tail) & (lane.dues.size() - 1)]);
    if (due < now) {
      lateness_.Add(static_cast<uint64_t>((now - due).count()));
    } else {
      ++in_time_;
    }
  }
  // Behind those of its QP that wait.
  lane.last_held = std::max({due, now, lane.last_held});
  held_.emplace(std::pair(lane.last_held, order_++), kept);
}

void PacedCompletions::Release(ProcessDma& memory, RealTime now) {
  while (!held_.empty() && held_.begin()->first.first <= now) {
    const Cqe& cqe = held_.begin()->second;
    memory.StoreCqe(cqe.address, cqe.bytes.data());
    held_.erase(held_.begin());
  }
}

void PacedCompletions::Forget(uint32_t qpn) {
  lanes_.erase(qpn);
  std::erase_if(held_, [qpn](const auto& held) { return held.second.qpn == qpn; });
}

PaceCounters PacedCompletions::Count() const {
  return {in_time_, lateness_.Count(), lateness_.Percentile(50), lateness_.Percentile(99),
          lateness_.Max()};
}

}  // namespace ringpost::sim::service
