#include "workloads/circumstances.h"

#include <fmt/format.h>
#include <sched.h>

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

std::string PollOf(const config::Config& config, const LiveNicOptions& options) {
  using sim::service::Idle;
  if (options.service.idle == Idle::kSleep) return "sleep";
  if (options.service.idle == Idle::kSpin) return "spin";
  return config.live.poll == config::LivePoll::kSpin ? "yield, as there are too few cores to spin"
                                                     : "yield";
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
  std::string nic_cores;
  std::string poll;
  for (uint32_t rank = 0; rank < machine.Ranks(); ++rank) {
    if (!machine.Owns(rank)) continue;
    const LiveNicOptions& options = machine.live_nic(rank).Options();
    const int core = options.service.core;
    here += (here.empty() ? "" : ", ") + fmt::format("{}", rank);
    nic_cores += (nic_cores.empty() ? "" : ", ") + (core < 0 ? "any" : fmt::format("{}", core));
    poll = PollOf(config, options);
  }
  return {{"cpu", CpuModel()},
          {"cores", Cores()},
          {"clock_governor", ClockGovernor()},
          {"gpu", "none: kernels are host threads, and placement gpu is host memory"},
          {"nic", "software"},
          {"ranks_here", here},
          {"nic_core", nic_cores},
          {"poll", poll},
          {"completion", CompletionOf(config)},
          {"qps_per_peer", fmt::format("{}", config.transport.qps_per_peer)}};
}

}  // namespace ringpost::workloads
