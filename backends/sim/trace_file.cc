#include "backends/sim/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace ringpost {
namespace {

using sim::Stage;
using sim::Time;
using sim::TraceStep;

// The groups of tracks that each node has.
enum class Group : uint32_t { kThreads = 1, kNic, kQps };
constexpr uint32_t kGroups = 3;

struct TrackName {
  uint32_t process = 0;
  std::string name;
  auto operator<=>(const TrackName&) const = default;
};

// An arrow of a put's way begins ('s'), goes through ('t') or ends ('f') in a slice.
struct Flow {
  char phase;
  uint64_t put;
  Time at;
};

struct Slice {
  TrackName track;
  std::string name;
  Time begin, end;
  uint32_t qpn = 0;
  uint64_t wqe = 0;
  std::vector<Flow> flows;
  const PutPath* path = nullptr;  // whose stages, up to its CQE, are slices below this one
};

std::string Microseconds(int64_t ps) { return fmt::format("{}.{:06}", ps / 1000000, ps % 1000000); }

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
    // Those around others come before them.
    std::stable_sort(slices_.begin(), slices_.end(), [](const Slice& a, const Slice& b) {
      return std::tie(a.begin, b.end) < std::tie(b.begin, a.end);
    });
  }

  const std::vector<Slice>& All() const { return slices_; }

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
                       .flows = {{'s', put, path.Begin()}}});
    slices_.push_back({.track = {ProcessOf(path.node, Group::kQps), fmt::format("QP {}", path.qpn)},
                       .name = fmt::format("WQE {}", path.wqe),
                       .begin = path.Begin(),
                       .end = path.stages[path.nic_stages - 1].end,
                       .qpn = path.qpn,
                       .wqe = path.wqe,
                       .flows = {{'t', put, path.Begin()}},
                       .path = &path});
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
                         .flows = {}});
    }
    slices_[known->second].flows.push_back({'f', put, path.cqe_read_from});
  }

  void AddStep(const TraceStep& step, const PeerOf& peer_of) {
    // Of the QP itself; under its put.
    if (step.stage == Stage::kSerial || step.stage == Stage::kPayload) return;
    QueueId queue{step.node, step.qpn};
    if (step.stage == Stage::kRespond) queue = peer_of(queue).value_or(queue);
    const auto number = numbers_.find({queue, step.index});
    std::vector<Flow> flows;
    if (number != numbers_.end()) flows.push_back({'t', number->second, step.begin});
    slices_.push_back({.track = {ProcessOf(step.node, Group::kNic), sim::NameOf(step.stage)},
                       .name = fmt::format("QP {} WQE {}", queue.qpn, step.index),
                       .begin = step.begin,
                       .end = step.end,
                       .qpn = queue.qpn,
                       .wqe = step.index,
                       .flows = std::move(flows)});
  }

  std::map<std::pair<QueueId, uint64_t>, uint64_t> numbers_;           // of puts, from 1
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Time>> issued_;  // by thread
  // Which slice is the wait of a thread that began to read its CQE then.
  std::map<std::pair<std::pair<uint32_t, uint32_t>, Time>, size_t> waits_;
  std::vector<Slice> slices_;
};

class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {
    out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  }

  void Write(const Slice& slice) {
    const uint32_t track = TrackFor(slice);
    Event(
        "X", slice.track.process, track, slice.begin,
        fmt::format(",\"dur\":{},\"name\":\"{}\",\"args\":{{\"qpn\":{},\"wqe\":{}}}",
                    Microseconds((slice.end - slice.begin).ps), slice.name, slice.qpn, slice.wqe));
    for (size_t i = 0; slice.path != nullptr && i < slice.path->nic_stages; ++i) {
      const PathStage& stage = slice.path->stages[i];
      Event("X", slice.track.process, track, stage.begin,
            fmt::format(",\"dur\":{},\"name\":\"{}\",\"args\":{{\"qpn\":{},\"wqe\":{}}}",
                        Microseconds((stage.end - stage.begin).ps), stage.name, slice.qpn,
                        slice.wqe));
    }
    for (const Flow& flow : slice.flows) {
      Event(std::string(1, flow.phase), slice.track.process, track, flow.at,
            fmt::format(",\"id\":{},\"cat\":\"put\",\"name\":\"put\"{}", flow.put,
                        flow.phase == 'f' ? ",\"bp\":\"e\"" : ""));
    }
  }

  void End() {
    std::map<uint32_t, bool> named;
    for (const auto& [name, rows] : rows_) {
      if (!named[name.process]) Name("process_name", name.process, 0, ProcessName(name.process));
      named[name.process] = true;
      for (size_t i = 0; i < rows.size(); ++i) {
        const std::string which = i == 0 ? "" : fmt::format(" ({})", i + 1);
        Name("thread_name", name.process, rows[i].track, name.name + which);
      }
    }
    out_ << "\n]}\n";
  }

 private:
  struct TrackRow {
    uint32_t track;
    Time until;
  };

  // The first track of the name that has nothing then.
  uint32_t TrackFor(const Slice& slice) {
    std::vector<TrackRow>& rows = rows_[slice.track];
    for (TrackRow& row : rows) {
      if (slice.begin < row.until) continue;
      row.until = slice.end;
      return row.track;
    }
    rows.push_back({++tracks_[slice.track.process], slice.end});
    return rows.back().track;
  }

  void Event(const std::string& phase, uint32_t process, uint32_t track, Time at,
             const std::string& rest) {
    // Through the stream, which knows when the disk is full.
    out_ << fmt::format("{}{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}{}}}", separator_, phase,
                        process, track, Microseconds(at.ps), rest);
    separator_ = ",\n";
  }

  void Name(const char* what, uint32_t process, uint32_t track, const std::string& name) {
    Event("M", process, track, Time{},
          fmt::format(",\"name\":\"{}\",\"args\":{{\"name\":\"{}\"}}", what, name));
  }

  std::ostream& out_;
  const char* separator_ = "";
  std::map<TrackName, std::vector<TrackRow>> rows_;
  std::map<uint32_t, uint32_t> tracks_;  // of each process
};

}  // namespace

void WriteTrace(const sim::Trace& trace, const std::vector<PutPath>& paths, const PeerOf& peer_of,
                std::ostream& out) {
  const Slices slices(trace, paths, peer_of);
  Writer writer(out);
  for (const Slice& slice : slices.All()) writer.Write(slice);
  writer.End();
}

}  // namespace ringpost
