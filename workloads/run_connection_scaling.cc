#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
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
  void Allocate();
  void Distribute(uint32_t rank);
  void MakeArguments();
  bool OnHost() const { return config_.workload.kind == config::WorkloadKind::kHostVerbs; }
  bool Launch(Passes& passes);
  void StartThreads(uint32_t rank, uint32_t threads, Fabric::Kernel kernel);
  void MeasureLatency(RunResult& result);
  void CheckSlots();
  void Report(const Passes& passes, RunResult& result);

  Fabric& fabric_;
  const config::Config& config_;
  Outcome& outcome_;
  uint32_t lanes_ = 1, queues_ = 0, peers_ = 0, stride_ = 0, slots_ = 1;
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
  for (uint32_t rank = 0; rank < fabric_.Nodes(); ++rank) {
    const uint64_t word = SlotWord(sources_[rank].address);
    fabric_.Poke(sources_[rank].address, &word, std::min<uint64_t>(sizeof(word), stride_));
    Sender& sender = senders_[rank];
    for (uint32_t unit = 0; unit < sender.visits.size(); ++unit) {
      VisitArguments a;
      a.visits = sender.visits[unit].data();
      a.count = static_cast<uint32_t>(sender.visits[unit].size());
      const uint64_t writes = a.count * workload.writes_per_visit * sender.visits.size();
      a.rounds = static_cast<uint32_t>((kLeastWrites + writes - 1) / writes);
      a.posts = static_cast<uint32_t>(workload.writes_per_visit / lanes_);
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
      for (uint32_t i = 0; i < a.count; ++i) {
        for (uint32_t slot = 0; slot < a.slots; ++slot) {
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
  const double mtu = static_cast<double>(fabric_.Costs().link.mtu);
  const double packets_per_write = std::max(1.0, std::ceil(bytes / mtu));
  const double rate = last.RequestsPerSecond() / packets_per_write / nics;
  const auto per_write = [&](uint64_t packets) {
    return static_cast<double>(packets) * packets_per_write /
           static_cast<double>(last.packets - last.acks);
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
  uint32_t units = 0;
  uint64_t fills = 1;
  for (const Sender& sender : senders_) {
    units += static_cast<uint32_t>(sender.arguments.size());
    for (const VisitArguments& a : sender.arguments) {
      fills = std::max(fills, config_.transport.sq_depth_wqebbs /
                                  (config_.workload.writes_per_visit * a.rounds));
    }
  }
  Passes passes(fabric_, units, fills);
  if (!Launch(passes)) return outcome_.Fail("this pair of publication and ordering is not built");
  const FabricRun run = fabric_.Run();
  if (!run.ok) outcome_.Fail(run.error);
  if (!outcome_.ok) return;
  if (!passes.Settled()) {
    return outcome_.Fail(
        fmt::format("rate or hit rate still moves by 1 % after {} passes", Passes::kMost));
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
