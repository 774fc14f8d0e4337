#include "workloads/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "backends/sim/capture.h"
#include "backends/sim/trace_file.h"
#include "transport/abi/byte_order.h"
#include "transport/abi/cqe.h"
#include "workloads/circumstances.h"
#include "workloads/gpu.h"
#include "workloads/kinds.h"
#include "workloads/live_machine.h"
#include "workloads/proxy_machine.h"
#include "workloads/sim_machine.h"

namespace ringpost::workloads {
namespace {

void AddCounters(Fabric& fabric, RunResult& result) {
  for (uint32_t node = 0; node < fabric.Nodes(); ++node) {
    sim::ForEachCounter(fabric.Counters(node), [&](const char* name, uint64_t value) {
      result.counters.emplace_back(fmt::format("nic{}.{}", node, name), value);
    });
  }
  result.counters.emplace_back("gpu.parked_polls", fabric.ParkedPolls());
  result.counters.emplace_back("engine.events", fabric.Clock().EventsRun());
}

// The stage that was in service for the largest part of the run.
std::string LimitingStage(Fabric& fabric) {
  const double total = static_cast<double>(fabric.Clock().Now().ps);
  double most = 0;
  std::string line = "nothing: no stage was in use";
  for (uint32_t node = 0; node < fabric.Nodes(); ++node) {
    for (const sim::StageUse& use : fabric.Node(node).Use()) {
      const double share = total > 0 ? static_cast<double>(use.busy.ps) / total : 0;
      if (share <= most) continue;
      most = share;
      line = fmt::format("{} stage of NIC {}: in service for {:.1f} % of the run",
                         sim::NameOf(use.stage), node, 100 * share);
    }
  }
  if (most < 0.7) line = "threads and latency; busiest was the " + line;
  return line;
}

// What the run was traced for.
void UseTrace(Fabric& fabric, const config::Config& config, const RunOptions& options,
              RunResult& result, Outcome& outcome) {
  const PeerOf peers = PeersIn(fabric);
  const std::vector<PutPath> paths = PathsOf(fabric.Steps(), peers);
  if (options.timeline && !options.timeline->qpn) {
    result.timeline = MedianOf(paths, config.workload.warm_up);
  } else if (options.timeline) {
    const auto found = std::find_if(paths.begin(), paths.end(), [&](const PutPath& path) {
      return path.qpn == *options.timeline->qpn && path.wqe == options.timeline->wqe;
    });
    if (found != paths.end()) result.timeline = *found;
  }
  if (options.trace_file.empty()) return;
  std::ofstream out(options.trace_file, std::ios::binary);
  WriteTrace(fabric.Steps(), paths, peers, out);
  if (!out.flush()) outcome.Fail(options.trace_file + ": the trace could not be written");
}

void WriteLookupsOf(Fabric& fabric, const std::string& path, Outcome& outcome) {
  std::ofstream out(path, std::ios::binary);
  fabric.WriteLookups(out);
  if (!out.flush()) outcome.Fail(path + ": the look-ups could not be written");
}

void RunDirect(Machine& machine, const config::Config& config, RunResult& result,
               Outcome& outcome) {
  switch (config.workload.kind) {
    case config::WorkloadKind::kPutLatency:
      RunPutLatency(machine, config, result, outcome);
      return;
    case config::WorkloadKind::kRoundTrip:
      RunRoundTrip(machine, config, result, outcome);
      return;
    case config::WorkloadKind::kMessageRate:
    case config::WorkloadKind::kGoodput:
      RunMessageRate(machine, config, result, outcome);
      return;
    case config::WorkloadKind::kComputeCaller:
    case config::WorkloadKind::kStreamingCaller:
      RunCaller(machine, config, result, outcome);
      return;
    case config::WorkloadKind::kConnectionScaling:
    case config::WorkloadKind::kHostVerbs:
    case config::WorkloadKind::kMoeDispatch:
      outcome.Fail("this kind runs on a simulated machine");
      return;
  }
}

// By the path that the configuration names.
void RunKind(Machine& machine, const config::Config& config, RunResult& result, Outcome& outcome) {
  if (config.transport.path == config::TransportPath::kDirect) {
    return RunDirect(machine, config, result, outcome);
  }
  ProxyMachine proxied(machine, config, outcome);
  if (!outcome.ok) return;
  RunDirect(proxied, config, result, outcome);
  for (uint32_t rank = 0; rank < machine.Ranks(); ++rank) {
    if (!machine.Owns(rank)) continue;
    uint64_t operations = 0, doorbells = 0;
    for (uint32_t worker = 0; worker < proxied.Proxy(rank).Workers(); ++worker) {
      operations += proxied.Proxy(rank).ShareOf(worker).operations;
      doorbells += proxied.Proxy(rank).ShareOf(worker).doorbells;
    }
    result.counters.emplace_back(fmt::format("proxy{}.operations", rank), operations);
    result.counters.emplace_back(fmt::format("proxy{}.doorbells", rank), doorbells);
  }
}

void AddLiveCounters(LiveMachine& machine, RunResult& result, Outcome& outcome) {
  for (uint32_t rank = 0; rank < machine.Ranks(); ++rank) {
    if (!machine.Owns(rank)) continue;
    const auto counts = machine.real_nic(rank).Counts();
    if (!counts.Ok()) return outcome.Fail(counts.Message());
    for (const auto& [name, value] : counts.Value()) {
      result.counters.emplace_back(fmt::format("nic{}.{}", rank, name), value);
    }
    const auto pace = machine.real_nic(rank).Paced();
    if (rank != 0 || !pace) continue;
    const auto in_us = [](uint64_t ns) { return static_cast<double>(ns) / 1e3; };
    result.pace = {pace->held, pace->late, in_us(pace->late_median_ns), in_us(pace->late_p99_ns),
                   in_us(pace->late_max_ns)};
  }
}

RunResult RunLive(const config::Config& config, const sim::Platform& platform,
                  const RunOptions& options) {
  RunResult result;
  result.measured = true;
  Outcome outcome;
  const GpuMaker make_gpu = options.make_gpu ? options.make_gpu : OpenGpu;
  const auto made = LiveMachine::Make(config, platform, options.ranks, make_gpu);
  if (!made.Ok()) {
    outcome.Fail(made.Message());
  } else {
    LiveMachine& machine = *made.Value();
    RunKind(machine, config, result, outcome);
    AddLiveCounters(machine, result, outcome);
    result.circumstances = CircumstancesOf(config, machine);
    // The others learn of a failure here, and this rank of theirs.
    if (!outcome.ok) machine.Abort(outcome.error);
    const auto ended =
        machine.Exchange(std::vector<std::string>(machine.Ranks()), "the end of the run");
    if (!ended.Ok()) outcome.Fail(ended.Message());
  }
  result.ok = outcome.ok;
  result.error = outcome.error;
  return result;
}

// Names the WQEs that failed before the one that was seen was flushed.
void AddCause(Fabric& fabric, Outcome& outcome) {
  if (outcome.ok || !outcome.flushed) return;
  for (uint32_t node = 0; node < fabric.Nodes(); ++node) {
    const std::optional<abi::Cqe>& cqe = fabric.Node(node).FirstError();
    if (!cqe) continue;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&*cqe);
    outcome.error += fmt::format(
        "; NIC {} had failed QP {:#x}, WQE {}, syndrome {:#04x}, vendor syndrome {:#04x}", node,
        abi::Swap32(cqe->sop_drop_qpn) & 0xffffff, abi::Swap16(cqe->wqe_counter),
        bytes[abi::kErrorSyndromeOffset], bytes[abi::kErrorVendorSyndromeOffset]);
  }
}

RunResult RunSimulated(const config::Config& config, const sim::Platform& platform,
                       const RunOptions& options) {
  RunResult result;
  Outcome outcome;
  std::optional<WireCapture> capture;
  if (!options.pcap_file.empty()) capture.emplace(options.pcap_file, platform);
  const bool traces = !options.trace_file.empty() || options.timeline;
  const std::unique_ptr<Fabric> fabric =
      MakeFabric(config, platform, traces, capture ? capture->Tap() : sim::PacketTap(),
                 !options.lookups_file.empty());
  if (IsConnectionScaling(config)) {
    RunConnectionScaling(*fabric, config, result, outcome);
  } else if (config.workload.kind == config::WorkloadKind::kMoeDispatch) {
    RunMoeDispatch(*fabric, config, result, outcome);
  } else {
    SimMachine machine(*fabric);
    RunKind(machine, config, result, outcome);
  }
  AddCause(*fabric, outcome);
  AddCounters(*fabric, result);
  result.limited_by = LimitingStage(*fabric);
  result.violations = fabric->Violations();
  result.violation_count = fabric->ViolationCount();
  if (traces) UseTrace(*fabric, config, options, result, outcome);
  if (!options.lookups_file.empty()) WriteLookupsOf(*fabric, options.lookups_file, outcome);
  if (capture) {
    const std::string error = capture->Finish();
    if (!error.empty()) outcome.Fail(error);
  }
  result.ok = outcome.ok;
  result.error = outcome.error;
  return result;
}

}  // namespace

RunResult Run(const config::Config& config, const sim::Platform& platform,
              const RunOptions& options) {
  return config.backend == config::Backend::kSim ? RunSimulated(config, platform, options)
                                                 : RunLive(config, platform, options);
}

}  // namespace ringpost::workloads
