#include "backends/sim/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "backends/sim/trace_writer.h"

namespace ringpost {
namespace {

using sim::Stage;
using sim::Time;
using sim::TraceStep;

// The groups of tracks that each node has.
enum class Group : uint32_t { kThreads = 1, kNic, kQps };
constexpr uint32_t kGroups = 3;

uint32_t ProcessOf(uint32_t node, Group group) {
  return node * kGroups + static_cast<uint32_t>(group);
}

std::string ProcessName(uint32_t process) {
  constexpr const char* kNames[kGroups] = {"threads", "NIC", "QPs"};
  return fmt::format("node {}: {}", (process - 1) / kGroups, kNames[(process - 1) % kGroups]);
}

// Which slices there are.
class Slices {
 public:
  Slices(const sim::Trace& trace, const std::vector<PutPath>& paths, const PeerOf& peer_of) {
    for (size_t i = 0; i < paths.size(); ++i) {
      numbers_[{{paths[i].node, paths[i].qpn}, paths[i].wqe}] = i + 1;
      issued_[{paths[i].node, paths[i].thread}].push_back(paths[i].issued);
    }
    for (size_t i = 0; i < paths.size(); ++i) {
      AddPut(paths[i], i + 1);
      if (paths[i].complete) AddWait(paths[i], i + 1);
    }
    for (const TraceStep& step : trace.Steps()) AddStep(step, peer_of);
    SortSlices(slices_);
  }

  const std::vector<TraceSlice>& All() const { return slices_; }

 private:
  static TrackName ThreadOf(uint32_t node, uint32_t thread) {
    return {ProcessOf(node, Group::kThreads), fmt::format("thread {}", thread)};
  }

  void AddPut(const PutPath& path, uint64_t put) {
    slices_.push_back({.track = ThreadOf(path.node, path.thread),
                       .name = fmt::format("issue {}", path.wqe),
                       .begin = path.Begin(),
                       .end = path.issued,
                       .qpn = path.qpn,
                       .wqe = path.wqe,
                       .flows = {{'s', put, path.Begin()}},
                       .stages = {},
                       .more = {}});
    slices_.push_back({.track = {ProcessOf(path.node, Group::kQps), fmt::format("QP {}", path.qpn)},
                       .name = fmt::format("WQE {}", path.wqe),
                       .begin = path.Begin(),
                       .end = path.stages[path.nic_stages - 1].end,
                       .qpn = path.qpn,
                       .wqe = path.wqe,
                       .flows = {{'t', put, path.Begin()}},
                       .stages = std::span(path.stages).first(path.nic_stages),
                       .more = {}});
  }

  // One wait for all puts that its CQE confirms, from the thread's last issue or wait on.
  void AddWait(const PutPath& path, uint64_t put) {
    const std::pair<uint32_t, uint32_t> thread = {path.node, path.waiter};
    const auto [known, is_new] = waits_.try_emplace({thread, path.cqe_read_from}, slices_.size());
    if (is_new) {
      const std::vector<Time>& issued = issued_[thread];
      const auto later = std::upper_bound(issued.begin(), issued.end(), path.cqe_read_from);
      Time begin = later == issued.begin() ? path.cqe_read_from : *(later - 1);
      if (known != waits_.begin() && std::prev(known)->first.first == thread) {
        begin = sim::Later(begin, slices_[std::prev(known)->second].end);
      }
      slices_.push_back({.track = ThreadOf(path.node, path.waiter),
                         .name = fmt::format("wait {}", path.wqe),
                         .begin = std::min(begin, path.cqe_read_from),
                         .end = path.End(),
                         .qpn = path.qpn,
                         .wqe = path.wqe,
                         .flows = {},
                         .stages = {},
                         .more = {}});
    }
    slices_[known->second].flows.push_back({'f', put, path.cqe_read_from});
  }

  void AddStep(const TraceStep& step, const PeerOf& peer_of) {
    // Of the QP itself; under its put.
    if (step.stage == Stage::kSerial || step.stage == Stage::kPayload) return;
    QueueId queue{step.node, step.qpn};
    if (step.stage == Stage::kRespond) queue = peer_of(queue).value_or(queue);
    const auto number = numbers_.find({queue, step.index});
    std::vector<TraceFlow> flows;
    if (number != numbers_.end()) flows.push_back({'t', number->second, step.begin});
    slices_.push_back({.track = {ProcessOf(step.node, Group::kNic), sim::NameOf(step.stage)},
                       .name = fmt::format("QP {} WQE {}", queue.qpn, step.index),
                       .begin = step.begin,
                       .end = step.end,
                       .qpn = queue.qpn,
                       .wqe = step.index,
                       .flows = std::move(flows),
                       .stages = {},
                       .more = {}});
  }

  std::map<std::pair<QueueId, uint64_t>, uint64_t> numbers_;           // of puts, from 1
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Time>> issued_;  // by thread
  // Which slice is the wait of a thread that began to read its CQE then.
  std::map<std::pair<std::pair<uint32_t, uint32_t>, Time>, size_t> waits_;
  std::vector<TraceSlice> slices_;
};

}  // namespace

void WriteTrace(const sim::Trace& trace, const std::vector<PutPath>& paths, const PeerOf& peer_of,
                std::ostream& out) {
  const Slices slices(trace, paths, peer_of);
  TraceWriter writer(out, ProcessName);
  for (const TraceSlice& slice : slices.All()) writer.Write(slice);
  writer.End();
}

}  // namespace ringpost
