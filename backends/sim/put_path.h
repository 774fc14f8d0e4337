// put_path.h: the way of each put through a traced run: what its thread does, what the NICs do, and
// the wait for its CQE, one after the other without a gap.
//
// A put here is any WQE that a thread has stored. What several WQEs share (a doorbell, a fetch, a
// CQE that confirms all before it) belongs to each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "backends/sim/fabric.h"
#include "backends/sim/trace_writer.h"
#include "sim/node/trace.h"

namespace ringpost {

// It ends where the next one begins; stages that take no time are left out.
using PathStage = TraceStage;

struct PutPath {
  uint32_t node = 0;
  uint32_t thread = 0;  // that posted it
  uint32_t qpn = 0;
  uint64_t wqe = 0;  // the number of its first WQEBB, from 0
  std::vector<PathStage> stages;
  size_t nic_stages = 0;    // of these, until its CQE is in memory, or as far as it came
  sim::Time issued;         // when the thread goes on
  bool complete = false;    // a thread has read its CQE
  uint32_t waiter = 0;      // who; of the same node
  sim::Time cqe_read_from;  // a time when the load of it was under way and it was there
  sim::Time Begin() const { return stages.front().begin; }
  sim::Time End() const { return stages.back().end; }
};

struct QueueId {
  uint32_t node = 0;
  uint32_t qpn = 0;
  auto operator<=>(const QueueId&) const = default;
};

// The queue at the other end; none where it is not one (DC).
using PeerOf = std::function<std::optional<QueueId>(const QueueId&)>;

// As `fabric`, which must outlive it, has connected them.
PeerOf PeersIn(Fabric& fabric);

// In the order in which threads stored them, thread by thread.
std::vector<PutPath> PathsOf(const sim::Trace& trace, const PeerOf& peer_of);

// Of the complete ones, but for the first `warm_up` of each thread, one of median latency. Of a
// thread that has no more (a workload may divide its warm-up among threads) the first half is left
// out.
std::optional<PutPath> MedianOf(const std::vector<PutPath>& paths, uint64_t warm_up);

}  // namespace ringpost
