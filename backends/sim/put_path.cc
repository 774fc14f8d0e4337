#include "backends/sim/put_path.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <tuple>

#include "sim/nic/qp_context.h"

namespace ringpost {
namespace {

using sim::Stage;
using sim::ThreadAct;
using sim::ThreadStep;
using sim::Time;
using sim::TraceStep;

struct Span {
  Time begin = Time::Never();
  Time end;
  bool there = false;
};

// All that the NICs did for the WQEs of one queue.
struct Queue {
  // Of one WQE: from its first packet to its last one.
  std::map<uint64_t, std::array<Span, sim::kStages>> wqes;
  // In order; a step is for all WQEs up to its index.
  std::vector<TraceStep> doorbells, cqes;
};
using Queues = std::map<QueueId, Queue>;

Queues QueuesOf(const sim::Trace& trace, const PeerOf& peer_of) {
  Queues queues;
  for (const TraceStep& step : trace.Steps()) {
    QueueId queue{step.node, step.qpn};
    if (step.stage == Stage::kRespond) {
      const std::optional<QueueId> peer = peer_of(queue);
      if (!peer) continue;
      queue = *peer;
    }
    Queue& its = queues[queue];
    if (step.stage == Stage::kDoorbell) {
      its.doorbells.push_back(step);
    } else if (step.stage == Stage::kCqe) {
      its.cqes.push_back(step);
    } else if (step.stage != Stage::kFetch) {
      Span& span = its.wqes[step.index][static_cast<size_t>(step.stage)];
      span.begin = std::min(span.begin, step.begin);
      span.end = sim::Later(span.end, step.end);
      span.there = true;
    }
  }
  return queues;
}

// The first that serves this WQE.
const TraceStep* Serving(const std::vector<TraceStep>& steps, uint64_t wqe) {
  const auto found =
      std::lower_bound(steps.begin(), steps.end(), wqe,
                       [](const TraceStep& step, uint64_t number) { return step.index < number; });
  return found == steps.end() ? nullptr : &*found;
}

struct ThreadId {
  uint32_t node = 0;
  uint32_t thread = 0;
  auto operator<=>(const ThreadId&) const = default;
};
using Threads = std::map<ThreadId, std::vector<ThreadStep>>;

// What a thread read of the CQ of a queue, and its place among the steps of the thread.
struct Sight {
  Time end;
  uint16_t counter = 0;  // of the newest CQE, which confirms all before it
  ThreadId thread;
  size_t place = 0;
};
using Sights = std::map<QueueId, std::vector<Sight>>;

Sights SightsOf(const Threads& threads) {
  Sights sights;
  for (const auto& [thread, steps] : threads) {
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].act != ThreadAct::kCqe) continue;
      sights[{thread.node, steps[i].qpn}].push_back(
          {steps[i].end, static_cast<uint16_t>(steps[i].index), thread, i});
    }
  }
  for (auto& [queue, its] : sights) {
    std::stable_sort(its.begin(), its.end(),
                     [](const Sight& a, const Sight& b) { return a.end < b.end; });
  }
  return sights;
}

class Paths {
 public:
  Paths(const sim::Trace& trace, const PeerOf& peer_of) : queues_(QueuesOf(trace, peer_of)) {
    for (const ThreadStep& step : trace.Threads()) {
      threads_[{step.node, step.thread}].push_back(step);
    }
    sights_ = SightsOf(threads_);
  }

  std::vector<PutPath> Make() {
    std::vector<PutPath> paths;
    for (const auto& [thread, steps] : threads_) {
      for (size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].act == ThreadAct::kWqe) paths.push_back(MakeOne(thread, steps, i));
      }
    }
    return paths;
  }

 private:
  // Goes on with the path up to `end`.
  static void Add(PutPath& path, const char* name, Time end) {
    const Time begin = path.stages.empty() ? end : path.End();
    if (begin < end) path.stages.push_back({name, begin, end});
  }

  PutPath MakeOne(const ThreadId& thread, const std::vector<ThreadStep>& steps, size_t place) {
    const ThreadStep& store = steps[place];
    PutPath path;
    path.node = thread.node;
    path.thread = thread.thread;
    path.qpn = store.qpn;
    path.wqe = store.index;
    // From where the thread was seen last.
    if (place > 0 && steps[place - 1].end < store.begin) {
      path.stages.push_back({"reserve", steps[place - 1].end, store.begin});
    }
    path.stages.push_back({"write WQE", store.begin, store.end});
    path.issued = store.end;
    const auto found = queues_.find({path.node, path.qpn});
    path.nic_stages = path.stages.size();
    if (found == queues_.end()) return path;
    const Queue& queue = found->second;
    const TraceStep* doorbell = Serving(queue.doorbells, path.wqe);
    const auto wqe = queue.wqes.find(path.wqe);
    if (doorbell == nullptr || wqe == queue.wqes.end()) return path;
    path.issued = IssueEnd(steps, place, doorbell->begin);
    Add(path, "order and ring", doorbell->begin);
    Add(path, "doorbell", doorbell->end);
    AddNic(path, wqe->second);
    path.nic_stages = path.stages.size();
    AddCompletion(path, Serving(queue.cqes, path.wqe));
    return path;
  }

  // A thread that reads its clock next has come back from the post; one that stores another WQE
  // before the doorbell has staged this one.
  static Time IssueEnd(const std::vector<ThreadStep>& steps, size_t place, Time rung) {
    if (place + 1 == steps.size()) return sim::Later(steps[place].end, rung);
    const ThreadStep& next = steps[place + 1];
    if (next.act == ThreadAct::kClock) return next.begin;
    return next.begin < rung ? next.begin : sim::Later(steps[place].end, rung);
  }

  static void AddNic(PutPath& path, const std::array<Span, sim::kStages>& spans) {
    struct Part {
      Stage stage;
      const char* before;  // what it waits for
      const char* name;
    };
    constexpr Part kParts[] = {{Stage::kSerial, "fetch", "context and QP"},
                               {Stage::kPayload, "wait for payload", "payload"},
                               {Stage::kTransmit, "wait to transmit", "transmit"},
                               {Stage::kLink, "wait for link", "link"},
                               {Stage::kRespond, "wait at target", "respond"}};
    for (const Part& part : kParts) {
      const Span& span = spans[static_cast<size_t>(part.stage)];
      if (!span.there) continue;
      Add(path, part.before, span.begin);
      Add(path, part.name, span.end);
    }
  }

  void AddCompletion(PutPath& path, const TraceStep* cqe) {
    if (cqe == nullptr) return;
    Add(path, "answer", cqe->begin);
    Add(path, "CQE", cqe->end);
    path.nic_stages = path.stages.size();
    const auto sights = sights_.find({path.node, path.qpn});
    if (sights == sights_.end()) return;
    auto sight = std::upper_bound(sights->second.begin(), sights->second.end(), cqe->end,
                                  [](Time time, const Sight& its) { return time < its.end; });
    // A load that was on its way when the CQE came has an older one; counters wrap.
    const auto counter = static_cast<uint16_t>(cqe->index);
    while (sight != sights->second.end() &&
           static_cast<int16_t>(static_cast<uint16_t>(sight->counter - counter)) < 0) {
      ++sight;
    }
    if (sight == sights->second.end()) return;
    const std::vector<ThreadStep>& steps = threads_.at(sight->thread);
    path.complete = true;
    path.waiter = sight->thread.thread;
    path.cqe_read_from = sim::Later(steps[sight->place].begin, cqe->end);
    Add(path, "poll", sight->end);
    // The thread may use what the CQE confirms when it next reads its clock.
    const size_t next = sight->place + 1;
    if (next < steps.size() && steps[next].act == ThreadAct::kClock) {
      Add(path, "take", steps[next].begin);
    }
  }

  Queues queues_;
  Threads threads_;
  Sights sights_;
};

}  // namespace

std::optional<PutPath> MedianOf(const std::vector<PutPath>& paths, uint64_t warm_up) {
  std::map<ThreadId, uint64_t> all, posted;
  for (const PutPath& path : paths) ++all[{path.node, path.thread}];
  std::vector<const PutPath*> complete;
  for (const PutPath& path : paths) {
    const ThreadId thread{path.node, path.thread};
    const uint64_t puts = all[thread];
    const uint64_t left_out = puts > warm_up ? warm_up : puts / 2;
    if (posted[thread]++ >= left_out && path.complete) complete.push_back(&path);
  }
  if (complete.empty()) return std::nullopt;
  const auto middle = complete.begin() + static_cast<std::ptrdiff_t>(complete.size() / 2);
  std::nth_element(complete.begin(), middle, complete.end(), [](const auto* a, const auto* b) {
    const sim::Duration first = a->End() - a->Begin(), second = b->End() - b->Begin();
    return std::tie(first, a) < std::tie(second, b);  // they stand in one vector
  });
  return **middle;
}

PeerOf PeersIn(Fabric& fabric) {
  return [&fabric](const QueueId& queue) -> std::optional<QueueId> {
    const sim::QpContext* qp = fabric.Node(queue.node).Function().FindQp(queue.qpn);
    const uint32_t lid = qp == nullptr ? 0 : qp->attributes.address.lid;
    if (lid == 0 || lid > fabric.Nodes()) return std::nullopt;
    return QueueId{lid - 1, qp->dest_qpn};
  };
}

std::vector<PutPath> PathsOf(const sim::Trace& trace, const PeerOf& peer_of) {
  return Paths(trace, peer_of).Make();
}

}  // namespace ringpost
