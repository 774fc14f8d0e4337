#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "transport/publication/pairs.h"
#include "workloads/connection_scaling.h"
#include "workloads/kinds.h"
#include "workloads/mesh.h"
#include "workloads/passes.h"
#include "workloads/put_latency.h"

namespace ringpost::workloads {
namespace {

// Shorter passes go through their queues several times.
constexpr uint64_t kLeastWrites = 16384;

// Threads wait for each other, so that none is further ahead than a part: an eighth of a pass, or a
// visit or more of so many writes. Waiting at each visit would leave the NIC idle.
constexpr uint64_t kLeastParts = 8;
constexpr uint64_t kLeastVisits = 2 * kLeastParts;  // of a thread in a pass
constexpr uint64_t kPartWrites = 512;

// What has not settled after so many goes on for ever, but where rings are long.
constexpr uint64_t kMostStretches = 64;

// Of each thread in a stretch, where passes are sampled. Threads that begin together change queues
// together, and need some stretches until each is at a place of its own.
constexpr uint64_t kSampledWrites = 4096;
constexpr uint64_t kSkippedSamples = 6;

// Whether a pass comes to each queue once.
bool VisitsEach(config::VisitOrder order) {
  return order == config::VisitOrder::kRoundRobin || order == config::VisitOrder::kStrided;
}

VisitOrder OrderOf(config::VisitOrder order) {
  switch (order) {
    case config::VisitOrder::kRoundRobin:
      return VisitOrder::kRoundRobin;
    case config::VisitOrder::kStrided:
      return VisitOrder::kStrided;
    case config::VisitOrder::kRandom:
      return VisitOrder::kRandom;
    case config::VisitOrder::kZipf:
      return VisitOrder::kZipf;
  }
  return VisitOrder::kRoundRobin;
}

// The threads of one rank that post: each a thread, or a warp.
struct Sender {
  std::vector<std::vector<Visit>> visits;  // by thread or warp
  std::vector<VisitArguments> arguments;
};

// One run, set up step by step.
class Connections {
 public:
  Connections(Fabric& fabric, const config::Config& config, Outcome& outcome)
      : fabric_(fabric), config_(config), outcome_(outcome) {
    const config::WorkloadConfig& workload = config.workload;
    lanes_ = config.transport.publication == config::Publication::kCooperative ? kWarp : 1;
    queues_ = static_cast<uint32_t>(config.transport.qps_per_peer);
    peers_ = fabric.Nodes() - 1;
    stride_ = static_cast<uint32_t>(config::SlotBytes(config));
    const uint64_t most = std::max<uint64_t>(1, kSlotsBytes / stride_);
    slots_ = static_cast<uint32_t>(
        std::bit_floor(std::min<uint64_t>({most, kWarp, workload.writes_per_visit})));
  }

  void Run(RunResult& result);

 private:
  static constexpr uint32_t kWarp = sim::kLanesPerWarp;
  static constexpr uint64_t kSlotsBytes = 2048;  // of each queue's part of its target

  bool Sends(uint32_t rank) const {
    if (config_.workload.direction == config::Direction::kBoth) return true;
    return (rank == 0) == (config_.workload.direction == config::Direction::kSend);
  }
  bool Between(uint32_t from, uint32_t to) const {
    if (config_.workload.direction == config::Direction::kBoth) return from != to;
    return from != to && (from == 0 || to == 0);
  }
  uint64_t PacketsPerWrite() const {
    const uint64_t mtu = fabric_.Costs().link.mtu;
    return std::max<uint64_t>(1, (config_.workload.payload_bytes + mtu - 1) / mtu);
  }
  void Allocate();
  void Distribute(uint32_t rank);
  void MakeArguments();
  bool OnHost() const { return config_.workload.kind == config::WorkloadKind::kHostVerbs; }
  Stretches Divide();
  bool Launch(Passes& passes);
  void StartThreads(uint32_t rank, uint32_t threads, Fabric::Kernel kernel);
  void MeasureLatency(RunResult& result);
  void CheckSlots();
  void Report(const Passes& passes, RunResult& result);

  Fabric& fabric_;
  const config::Config& config_;
  Outcome& outcome_;
  uint32_t lanes_ = 1, queues_ = 0, peers_ = 0, stride_ = 0, slots_ = 1;
  uint64_t pass_visits_ = 0, stretch_visits_ = 0;  // of all threads
  bool sampled_ = false;
  std::vector<RegisteredMemory> targets_, sources_;  // by rank
  Mesh mesh_;
  std::vector<Sender> senders_;  // by rank
};

void Connections::Allocate() {
  const config::WorkloadConfig& workload = config_.workload;
  const uint64_t bytes = uint64_t{peers_} * queues_ * slots_ * stride_;
  for (uint32_t rank = 0; rank < fabric_.Nodes() && outcome_.ok; ++rank) {
    const Result<RegisteredMemory> target = fabric_.nic(rank).Allocate(workload.placement, bytes);
    const Result<RegisteredMemory> source = fabric_.nic(rank).Allocate(workload.placement, stride_);
    if (!target.Ok()) outcome_.Fail(target.Message());
    if (!source.Ok()) outcome_.Fail(source.Message());
    if (!outcome_.ok) return;
    targets_.push_back(target.Value());
    sources_.push_back(source.Value());
  }
  // A DCI is one thread's, whoever it sends to.
  const bool one_each = config_.transport.kind == TransportKind::kDc ||
                        workload.direction == config::Direction::kReceive;
  const uint64_t queues = uint64_t{queues_} * (one_each ? 1 : peers_);
  const uint64_t units =
      std::min<uint64_t>(std::max<uint64_t>(1, workload.threads / lanes_), queues);
  senders_.resize(fabric_.Nodes());
  for (uint32_t rank = 0; rank < fabric_.Nodes(); ++rank) {
    if (Sends(rank)) senders_[rank].visits.resize(units);
  }
}

// Who visits which queue, and in which order: that of peers in turn, each rank beginning behind
// itself, so that no two have the same peer at the same time. A DCI has all its peers from one
// thread, which goes through its DCIs before it turns to the next peer.
void Connections::Distribute(uint32_t rank) {
  const bool dc = config_.transport.kind == TransportKind::kDc;
  Sender& sender = senders_[rank];
  uint64_t added = 0;
  for (uint32_t i = 0; i < queues_ * peers_; ++i) {
    const uint32_t queue = dc ? i % queues_ : i / peers_;
    const uint32_t step = dc ? i / queues_ : i % peers_;
    const uint32_t peer = (rank + 1 + step) % fabric_.Nodes();
    if (!Between(rank, peer)) continue;
    // Each rank's memory has a part for each of the others.
    const uint64_t part = (rank > peer ? rank - 1 : rank) * uint64_t{queues_} + queue;
    const RemoteSpan target = targets_[peer].Remote(part * slots_ * stride_);
    sender.visits[(dc ? queue : added++) % sender.visits.size()].push_back(
        {mesh_[rank][peer][queue], target});
  }
}

void Connections::MakeArguments() {
  const config::WorkloadConfig& workload = config_.workload;
  const bool batches = config_.transport.publication == config::Publication::kBatched;
  for (uint32_t rank = 0; rank < fabric_.Nodes(); ++rank) {
    const uint64_t word = SlotWord(sources_[rank].address);
    fabric_.Poke(sources_[rank].address, &word, std::min<uint64_t>(sizeof(word), stride_));
    Sender& sender = senders_[rank];
    for (uint32_t unit = 0; unit < sender.visits.size(); ++unit) {
      VisitArguments a;
      a.visits = sender.visits[unit].data();
      a.count = static_cast<uint32_t>(sender.visits[unit].size());
      const uint64_t writes = a.count * workload.writes_per_visit * sender.visits.size();
      a.rounds = static_cast<uint32_t>(
          std::max((kLeastWrites + writes - 1) / writes, (kLeastVisits + a.count - 1) / a.count));
      a.posts = static_cast<uint32_t>(workload.writes_per_visit / lanes_);
      a.first_posts = batches ? static_cast<uint32_t>(config_.transport.batch) : 1;
      const uint64_t units = a.posts / a.first_posts;
      a.next_posts = static_cast<uint32_t>(unit * units / sender.visits.size() + 1) * a.first_posts;
      a.order = OrderOf(workload.visit_order);
      a.when_completed = workload.revisit == config::Revisit::kCompleted;
      a.slots = slots_;
      a.stride = stride_;
      a.bytes = static_cast<uint32_t>(workload.payload_bytes);
      if (!SendsInline(config_)) a.source = sources_[rank].Local(0, stride_);
      a.seed = config_.seed + (uint64_t{rank} << 32) + unit;
      sender.arguments.push_back(a);
    }
  }
}

// What is counted together: passes, or of passes that are too long some visits of each thread. The
// caches then hold what they hold in whole passes: each queue has been visited before, in the same
// order, and how often it was used at that visit is nothing to a cache of what was used last.
Stretches Connections::Divide() {
  const config::WorkloadConfig& workload = config_.workload;
  const config::TransportConfig& transport = config_.transport;
  Stretches stretches;
  stretches.packets = PacketsPerWrite();
  uint64_t longest = 0, fills = 0;
  for (const Sender& sender : senders_) {
    stretches.threads += static_cast<uint32_t>(sender.arguments.size());
    for (const VisitArguments& a : sender.arguments) {
      const uint64_t visits = uint64_t{a.count} * a.rounds;
      pass_visits_ += visits;
      longest = std::max(longest, visits);
      stretches.first_visit = a.first_posts * lanes_;
      fills = std::max(fills, transport.sq_depth_wqebbs / (workload.writes_per_visit * a.rounds));
    }
  }
  const uint64_t writes = workload.writes_per_visit;
  stretches.pass_parts =
      std::max(kLeastParts, longest * std::min(writes, kPartWrites) / kPartWrites);
  for (Sender& sender : senders_) {
    for (VisitArguments& a : sender.arguments) a.parts = stretches.pass_parts;
  }
  sampled_ =
      VisitsEach(workload.visit_order) && pass_visits_ * writes > workload.whole_pass_messages;
  stretches.parts = stretches.pass_parts;
  if (sampled_) {
    const uint64_t parts = kSampledWrites * stretches.pass_parts / (longest * writes);
    stretches.parts = std::clamp<uint64_t>(parts, 1, stretches.pass_parts);
    stretches.skipped = kSkippedSamples;
  }
  // Until rings have been filled once, what NICs send may pile up where it arrives.
  stretches.skipped = std::max(stretches.skipped, fills * stretches.pass_parts / stretches.parts);
  // Long rings fill, and are drained, in turns of many passes.
  stretches.most = std::max({kMostStretches, 16 * fills, 4 * stretches.skipped});
  stretch_visits_ = pass_visits_ * stretches.parts / stretches.pass_parts;
  return stretches;
}

bool Connections::Launch(Passes& passes) {
  const auto& transport = config_.transport;
  return VisitPair(NameOf(transport.publication), NameOf(transport.ordering),
                   [&]<class Publication, class Ordering>() {
                     for (uint32_t rank = 0; rank < fabric_.Nodes(); ++rank) {
                       const Sender& sender = senders_[rank];
                       if (sender.arguments.empty()) continue;
                       StartThreads(rank, static_cast<uint32_t>(sender.arguments.size()) * lanes_,
                                    [this, &sender, &passes](SimPort& port) {
                                      const VisitArguments& a =
                                          sender.arguments[port.ThreadIndex() / lanes_];
                                      ConnectionScalingKernel<SimPort, Publication, Ordering>(
                                          port, a, passes, outcome_);
                                    });
                     }
                   });
}

void Connections::StartThreads(uint32_t rank, uint32_t threads, Fabric::Kernel kernel) {
  if (OnHost()) return fabric_.LaunchOnHost(rank, threads, std::move(kernel));
  sim::LaunchShape shape;
  shape.threads = threads;
  shape.sms = static_cast<uint32_t>(config_.workload.sms_count);
  // Whole warps, where warps post.
  const uint32_t block = ThreadsPerBlock(config_, threads);
  shape.threads_per_block = (block + lanes_ - 1) / lanes_ * lanes_;
  fabric_.Launch(rank, shape, std::move(kernel));
}

// What one put takes when nobody else posts any longer.
void Connections::MeasureLatency(RunResult& result) {
  const auto sends = std::find_if(senders_.begin(), senders_.end(),
                                  [](const Sender& one) { return !one.visits.empty(); });
  const Visit& visit = sends->visits[0][0];
  const std::vector<uint8_t> payload(config_.workload.payload_bytes);
  PutLatencyArguments a;
  a.qps = {&visit.queue, 1, 0, 1, 0};
  a.target = visit.target;
  a.source = sends->arguments[0].source;
  a.bytes = sends->arguments[0].bytes;
  if (a.source.address == 0) a.inline_payload = payload.data();
  a.source.bytes = a.bytes;
  a.warm_up = 16;
  a.operations = 256;
  PutLatencySamples samples;
  VisitPair(NameOf(config_.transport.publication), NameOf(config_.transport.ordering),
            [&]<class Publication, class Ordering>() {
              StartThreads(static_cast<uint32_t>(sends - senders_.begin()), 1, [&](SimPort& port) {
                PutLatencyKernel<SimPort, Publication, Ordering>(port, a, samples, outcome_);
              });
            });
  const FabricRun run = fabric_.Run();
  if (!run.ok) outcome_.Fail(run.error);
  if (samples.issue.Empty()) return;
  result.metrics.push_back({"issue_latency", samples.issue.Median(), "us"});
  result.metrics.push_back({"put_completion_latency", samples.completion.Median(), "us"});
}

// Each slot has the word of its address, or of the source's.
void Connections::CheckSlots() {
  if (config_.workload.payload_bytes < sizeof(uint64_t)) return;
  if (config_.workload.visit_order != config::VisitOrder::kRoundRobin) return;
  uint64_t wrong = 0;
  for (const Sender& sender : senders_) {
    for (const VisitArguments& a : sender.arguments) {
      // Where passes are sampled, the first alone has come to each queue.
      const uint32_t written = (sampled_ ? a.first_posts : a.posts) * lanes_;
      for (uint32_t i = 0; i < a.count; ++i) {
        for (uint32_t slot = 0; slot < std::min(a.slots, written); ++slot) {
          const uint64_t at = a.visits[i].target.address + uint64_t{slot} * a.stride;
          const uint64_t source = a.source.address != 0 ? a.source.address : at;
          if (fabric_.Read<uint64_t>(at) != SlotWord(source)) ++wrong;
        }
      }
    }
  }
  if (wrong > 0) outcome_.Fail(fmt::format("{} payload words at the targets are wrong", wrong));
}

void Connections::Report(const Passes& passes, RunResult& result) {
  const PassResult& last = passes.Last();
  const bool both = config_.workload.direction == config::Direction::kBoth;
  const double nics = both ? fabric_.Nodes() : 1;
  const double bytes = static_cast<double>(config_.workload.payload_bytes);
  const double packets_per_write = static_cast<double>(PacketsPerWrite());
  const double rate = last.RequestsPerSecond() / packets_per_write / nics;
  const auto per_write = [&](uint64_t packets) {
    return static_cast<double>(packets) * packets_per_write / static_cast<double>(last.Requests());
  };
  result.metrics.push_back({"message_rate", rate / 1e6, "M msg/s"});
  result.metrics.push_back({"goodput", rate * bytes / 1e9, "GB/s"});
  result.metrics.push_back({"packets_per_message", per_write(last.packets), "packets"});
  result.metrics.push_back({"acks_per_message", per_write(last.acks), "ACKs"});
  result.metrics.push_back(
      {"requester_hit_rate", HitRate(last.requester_hits, last.requester_misses), ""});
  result.metrics.push_back(
      {"responder_hit_rate", HitRate(last.responder_hits, last.responder_misses), ""});
  result.metrics.push_back({"passes", static_cast<double>(passes.Count()), "passes"});
  uint64_t doorbells = 0, wqes = 0;
  for (uint32_t rank = 0; rank < fabric_.Nodes(); ++rank) {
    doorbells += fabric_.Counters(rank).doorbells;
    wqes += fabric_.Counters(rank).wqes;
  }
  result.metrics.push_back(
      {"doorbells_per_wqe", static_cast<double>(doorbells) / static_cast<double>(wqes), ""});
  const auto count = [&result](const char* name, uint64_t value, const char* unit) {
    result.metrics.push_back({name, static_cast<double>(value), unit});
  };
  count("pass_visits", pass_visits_, "visits");
  count("sampled_visits", stretch_visits_ * (sampled_ ? passes.LastStretches() : 1), "visits");
  const bool dc = config_.transport.kind == TransportKind::kDc;
  count("active_qps", uint64_t{queues_} * (dc ? 1 : peers_), "QPs");
  for (const Sender& sender : senders_) {
    if (sender.arguments.empty()) continue;
    count("posting_threads", sender.arguments.size() * lanes_, "threads");
    break;
  }
}

void Connections::Run(RunResult& result) {
  Allocate();
  if (!outcome_.ok) return;
  mesh_ = ConnectMesh(
      fabric_, SpecOf(config_), queues_,
      [this](uint32_t from, uint32_t to) { return Between(from, to); }, outcome_);
  if (!outcome_.ok) return;
  for (uint32_t rank = 0; rank < fabric_.Nodes(); ++rank) {
    if (Sends(rank)) Distribute(rank);
  }
  MakeArguments();
  Passes passes(fabric_, Divide());
  if (!Launch(passes)) return outcome_.Fail("this pair of publication and ordering is not built");
  const FabricRun run = fabric_.Run();
  if (!run.ok) outcome_.Fail(run.error);
  if (!outcome_.ok) return;
  if (!passes.Settled()) {
    return outcome_.Fail(fmt::format(
        "after {} passes rate or hit rate still moves by 1 %, or rings still fill or drain",
        passes.Count()));
  }
  CheckSlots();
  Report(passes, result);
  if (OnHost()) MeasureLatency(result);
}

}  // namespace

void RunConnectionScaling(Fabric& fabric, const config::Config& config, RunResult& result,
                          Outcome& outcome) {
  Connections(fabric, config, outcome).Run(result);
}

}  // namespace ringpost::workloads
