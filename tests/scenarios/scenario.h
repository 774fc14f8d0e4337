// scenario.h: what the scenarios share: a simulated machine of two nodes, faults in one line, and
// QPs that have been in use for long.
#pragma once

#include <cstdlib>
#include <string_view>
#include <vector>

#include "tests/scenarios/raw_post.h"
#include "tests/sim/fabric_fixture.h"
#include "transport/abi/doorbell.h"
#include "transport/publication/batched.h"
#include "transport/publication/ordered_handoff.h"

namespace ringpost {

inline constexpr auto kThisQp = CompletionScope::kSelectedQp;
inline constexpr uint64_t kMicrosecond = 1'000'000;  // of virtual time, in picoseconds
inline constexpr uint64_t kMillisecond = 1000 * kMicrosecond;
inline constexpr uint64_t kSecond = 1000 * kMillisecond;

// How large a scenario is: as in the report that it comes from where RINGPOST_SCENARIOS=full.
inline uint64_t Sized(uint64_t usual, uint64_t full) {
  const char* size = std::getenv("RINGPOST_SCENARIOS");
  return size != nullptr && std::string_view(size) == "full" ? full : usual;
}

// A fault at WQE `wqe` of the node 0's QPs.
inline sim::FaultRule FaultAt(sim::FaultWhere where, sim::FaultKind kind, uint64_t wqe,
                              uint64_t amount_ps = 0) {
  sim::FaultRule rule;
  rule.where = where;
  rule.kind = kind;
  rule.node = 0;
  rule.wqe = wqe;
  rule.amount = sim::Duration{static_cast<int64_t>(amount_ps)};
  return rule;
}

// As if `index` WQEBBs of the QP had been posted and completed: software's words and the NIC's.
inline void StartAt(Fabric& fabric, uint32_t node, const QpView& qp, uint64_t index) {
  for (const Ref<uint64_t> word : {qp.reserved, qp.ready, qp.published, qp.completed}) {
    fabric.Poke(word.address, &index, sizeof(index));
  }
  const uint32_t record = abi::Swap32(static_cast<uint32_t>(index & abi::kIndexMask));
  fabric.Poke(qp.record + abi::kRecordSendOffset, &record, sizeof(record));
  sim::Requester& requester = fabric.Node(node).Function().FindQp(qp.qpn)->requester;
  requester.fetched = requester.producer = index;
}

// Whether the NIC found every WQE that it fetched whole, in its place and within its ring.
inline bool RingWasSound(Fabric& fabric) {
  const sim::Counters count = fabric.Counters(0);
  return count.wqe_index_mismatches == 0 && count.wqe_qpn_mismatches == 0 &&
         count.reserved_bits == 0 && count.ring_overruns == 0 && count.error_cqes == 0;
}

}  // namespace ringpost
