#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "transport/publication/pairs.h"
#include "workloads/kinds.h"
#include "workloads/moe_low_latency.h"
#include "workloads/moe_memory.h"
#include "workloads/moe_normal.h"
#include "workloads/passes.h"
#include "workloads/samples.h"

namespace ringpost::workloads {
namespace {

// What all NICs together have counted.
struct MoeCounts {
  uint64_t wqes = 0, doorbells = 0, payload_bytes = 0;
  uint64_t requester_hits = 0, requester_misses = 0, responder_hits = 0, responder_misses = 0;
};

MoeCounts CountsOf(const Fabric& fabric) {
  MoeCounts all;
  for (uint32_t rank = 0; rank < fabric.Nodes(); ++rank) {
    const sim::Counters one = fabric.Counters(rank);
    all.wqes += one.wqes;
    all.doorbells += one.doorbells;
    all.payload_bytes += one.payload_bytes_sent;
    all.requester_hits += one.requester_context_hits;
    all.requester_misses += one.requester_context_misses;
    all.responder_hits += one.responder_context_hits;
    all.responder_misses += one.responder_context_misses;
  }
  return all;
}

// Of one rank in one round, from its start on: its last WQE, its last flag, its last token.
struct MoePhases {
  uint64_t issued = 0, seen = 0, copied = 0, messages = 0;
};

MoePhases PhasesOf(const std::vector<MoeTimes>& threads) {
  uint64_t start = ~uint64_t{0};
  MoePhases phases;
  for (const MoeTimes& one : threads) {
    start = std::min(start, one.start);
    phases.issued = std::max(phases.issued, one.issued);
    phases.seen = std::max(phases.seen, one.seen);
    phases.copied = std::max(phases.copied, one.copied);
    phases.messages += one.messages;
  }
  // Each ends where the next begins, also where nothing was left to do.
  phases.issued = std::max(phases.issued, start);
  phases.seen = std::max(phases.seen, phases.issued);
  phases.copied = std::max(phases.copied, phases.seen);
  phases.issued -= start;
  phases.seen -= start;
  phases.copied -= start;
  return phases;
}

class MoeDispatch {
 public:
  MoeDispatch(Fabric& fabric, const config::Config& config, Outcome& outcome)
      : fabric_(fabric),
        config_(config),
        outcome_(outcome),
        routing_(config),
        rounds_(1 + config.workload.moe.rounds),
        memory_(fabric, config, routing_, rounds_, outcome) {}

  void Run(RunResult& result);

 private:
  bool RunRound(uint64_t round);
  template <class Publication, class Ordering>
  void Launch(uint32_t rank, const MoeArguments& arguments);
  void Measure();
  void Report(const MoeCounts& before, RunResult& result) const;

  Fabric& fabric_;
  const config::Config& config_;
  Outcome& outcome_;
  MoeRouting routing_;
  const uint64_t rounds_;
  MoeMemory memory_;
  std::vector<std::vector<MoeTimes>> times_;  // of the round: by rank, then thread
  // Of the measured rounds: of all ranks the median and the largest, by phase and the whole.
  std::array<Samples, 4> medians_, largest_;
  std::vector<uint64_t> ends_;  // of the ranks, all rounds together
  uint64_t messages_ = 0;
};

template <class Publication, class Ordering>
void MoeDispatch::Launch(uint32_t rank, const MoeArguments& a) {
  const bool normal = config_.workload.moe.pattern == config::MoePattern::kNormal;
  sim::LaunchShape shape;
  shape.threads_per_block = normal ? 2 * a.ranks : a.top_k;
  shape.threads = a.blocks * shape.threads_per_block;
  shape.sms = a.blocks;
  times_[rank].assign(shape.threads, {});
  fabric_.Launch(rank, shape, [this, &a, rank, normal](SimPort& port) {
    MoeTimes& times = times_[rank][port.ThreadIndex()];
    if (normal) {
      MoeNormal<SimPort, Publication, Ordering, Outcome>(port, a, times, outcome_).Run();
    } else {
      MoeLowLatency<SimPort, Publication, Ordering, Outcome>(port, a, times, outcome_).Run();
    }
  });
}

bool MoeDispatch::RunRound(uint64_t round) {
  const std::vector<MoeArguments>& arguments = memory_.ArgumentsOf(round);
  const auto& transport = config_.transport;
  VisitPair(NameOf(transport.publication), NameOf(transport.ordering),
            [&]<class Publication, class Ordering>() {
              // Threads share their queues, each by itself.
              if constexpr (Publication::kSharesQp && !Publication::kWarpWide) {
                for (uint32_t rank = 0; rank < fabric_.Nodes(); ++rank) {
                  Launch<Publication, Ordering>(rank, arguments[rank]);
                }
              }
            });
  const FabricRun run = fabric_.Run();
  if (!run.ok) outcome_.Fail(run.error);
  return outcome_.ok;
}

void MoeDispatch::Measure() {
  std::array<std::vector<uint64_t>, 4> of_ranks;
  for (uint32_t rank = 0; rank < fabric_.Nodes(); ++rank) {
    const MoePhases phases = PhasesOf(times_[rank]);
    of_ranks[0].push_back(phases.issued);
    of_ranks[1].push_back(phases.seen - phases.issued);
    of_ranks[2].push_back(phases.copied - phases.seen);
    of_ranks[3].push_back(phases.copied);
    ends_[rank] += phases.copied;
    messages_ += phases.messages;
  }
  for (size_t phase = 0; phase < of_ranks.size(); ++phase) {
    std::sort(of_ranks[phase].begin(), of_ranks[phase].end());
    medians_[phase].Add(of_ranks[phase][of_ranks[phase].size() / 2]);
    largest_[phase].Add(of_ranks[phase].back());
  }
}

void MoeDispatch::Report(const MoeCounts& before, RunResult& result) const {
  const MoeCounts now = CountsOf(fabric_);
  const auto rounds = static_cast<double>(config_.workload.moe.rounds);
  const auto add = [&](const std::string& name, double value, const char* unit) {
    result.metrics.push_back({name, value, unit});
  };
  constexpr const char* kPhases[] = {"issue_time", "wait_time", "copy_time", "dispatch_time"};
  for (size_t phase = 0; phase < std::size(kPhases); ++phase) {
    add(kPhases[phase], medians_[phase].Median(), "us");
    add(std::string(kPhases[phase]) + "_max", largest_[phase].Median(), "us");
  }
  add("messages", static_cast<double>(messages_) / rounds, "puts");
  add("bytes", static_cast<double>(now.payload_bytes - before.payload_bytes) / rounds, "B");
  add("goodput",
      static_cast<double>(now.payload_bytes - before.payload_bytes) / rounds / fabric_.Nodes() /
          largest_[3].Median() / 1e3,
      "GB/s");
  add("doorbells_per_wqe",
      static_cast<double>(now.doorbells - before.doorbells) /
          static_cast<double>(std::max<uint64_t>(1, now.wqes - before.wqes)),
      "");
  add("requester_hit_rate",
      HitRate(now.requester_hits - before.requester_hits,
              now.requester_misses - before.requester_misses),
      "");
  add("responder_hit_rate",
      HitRate(now.responder_hits - before.responder_hits,
              now.responder_misses - before.responder_misses),
      "");
  add("last_rank",
      static_cast<double>(std::max_element(ends_.begin(), ends_.end()) - ends_.begin()), "");
  add("hottest_rank", static_cast<double>(routing_.HottestRank()), "");
}

void MoeDispatch::Run(RunResult& result) {
  if (!outcome_.ok) return;
  ends_.resize(fabric_.Nodes());
  times_.resize(fabric_.Nodes());
  MoeCounts before;
  for (uint64_t round = 0; round < rounds_; ++round) {
    if (!RunRound(round)) return;
    if (round == 0) {
      before = CountsOf(fabric_);
    } else {
      Measure();
    }
  }
  const std::string wrong = memory_.WrongAfter(rounds_ - 1);
  if (!wrong.empty()) return outcome_.Fail(wrong);
  Report(before, result);
}

}  // namespace

void RunMoeDispatch(Fabric& fabric, const config::Config& config, RunResult& result,
                    Outcome& outcome) {
  MoeDispatch(fabric, config, outcome).Run(result);
}

}  // namespace ringpost::workloads
