#include "workloads/circumstances.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace ringpost::workloads {
namespace {

constexpr char kUnknown[] = "unknown";

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return kUnknown;
}

std::string ClockGovernor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string governor;
  return std::getline(file, governor) ? governor : kUnknown;
}

// "0-3 8": the cores that this process may use.
std::string Cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return kUnknown;
  std::string text;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &cores)) continue;
    int last = core;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cores)) ++last;
    text += (text.empty() ? "" : " ") +
            (last == core ? fmt::format("{}", core) : fmt::format("{}-{}", core, last));
    core = last;
  }
  return text;
}

// A NIC that was to spin, and yields, has found too few cores.
std::string Explained(const config::Config& config, const RealTimeNic::Fact& fact) {
  const bool wanted = config.live.poll == config::LivePoll::kSpin;
  if (fact.first != "poll" || fact.second != "yield" || !wanted) return fact.second;
  return "yield, as there are too few cores to spin";
}

// The facts of each NIC that is here; what differs between them stands beside one another.
void AddFacts(const config::Config& config, LiveMachine& machine,
              std::vector<Circumstance>& facts) {
  for (uint32_t rank = 0; rank < machine.Ranks(); ++rank) {
    if (!machine.Owns(rank)) continue;
    std::vector<RealTimeNic::Fact> of_rank = machine.real_nic(rank).Facts();
    if (machine.gpu(rank) != nullptr) {
      const std::vector<Gpu::Fact> of_gpu = machine.gpu(rank)->Facts();
      of_rank.insert(of_rank.begin(), of_gpu.begin(), of_gpu.end());
    }
    for (const RealTimeNic::Fact& fact : of_rank) {
      const std::string value = Explained(config, fact);
      const auto known = std::find_if(facts.begin(), facts.end(), [&](const Circumstance& other) {
        return other.name == fact.first;
      });
      if (known == facts.end()) {
        facts.push_back({fact.first, value});
      } else if (known->value != value) {
        known->value += ", " + value;
      }
    }
  }
}

std::string CompletionOf(const config::Config& config) {
  switch (config.transport.completion) {
    case CompletionScope::kSelectedQp:
      return "selected_qp";
    case CompletionScope::kPeer:
      return "peer";
    case CompletionScope::kAllQps:
      return "all_qps";
  }
  return kUnknown;
}

}  // namespace

std::vector<Circumstance> CircumstancesOf(const config::Config& config, LiveMachine& machine) {
  std::string here;
  for (uint32_t rank = 0; rank < machine.Ranks(); ++rank) {
    if (machine.Owns(rank)) here += (here.empty() ? "" : ", ") + fmt::format("{}", rank);
  }
  std::vector<Circumstance> facts = {
      {"cpu", CpuModel()}, {"cores", Cores()}, {"clock_governor", ClockGovernor()}};
  if (!config::RunsKernels(config)) {
    facts.push_back({"gpu", "none: kernels are host threads, and placement gpu is host memory"});
  }
  AddFacts(config, machine, facts);
  facts.push_back({"ranks_here", here});
  facts.push_back({"completion", CompletionOf(config)});
  facts.push_back({"qps_per_peer", fmt::format("{}", config.transport.qps_per_peer)});
  if (config.transport.path == config::TransportPath::kProxy) {
    facts.push_back({"proxy", fmt::format("{} workers a rank, {} hand-off, chains of {}, cores: {}",
                                          config.proxy.workers, NameOf(config.proxy.handoff),
                                          config.proxy.batch, config.proxy.affinity)});
  }
  return facts;
}

}  // namespace ringpost::workloads
