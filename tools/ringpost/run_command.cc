#include "tools/ringpost/run_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "configs/schema/config_error.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "tools/ringpost/child_ranks.h"
#include "tools/ringpost/error_line.h"
#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/output_file.h"
#include "tools/ringpost/progress.h"
#include "tools/ringpost/timeline.h"
#include "tools/ringpost/version.h"
#include "workloads/gpu.h"

namespace ringpost::tools {
namespace {

using Json = nlohmann::ordered_json;

// Reports beyond these say the same again; all are counted.
constexpr size_t kPrintedViolations = 10;

std::string ViolationText(const workloads::RunResult& result) {
  std::string text = fmt::format("violations: {}\n", result.violation_count);
  for (size_t i = 0; i < result.violations.size() && i < kPrintedViolations; ++i) {
    text += "  " + result.violations[i] + "\n";
  }
  if (result.violation_count > kPrintedViolations) text += "  ...\n";
  return text;
}

[[noreturn]] void Refuse(const char* option, const std::string& wrong, const std::string& right) {
  throw config::ConfigError({"command line", 1, 1}, option, {wrong, right});
}

// What must hold between options and configuration.
void Check(const RunArguments& arguments, const Experiment& experiment) {
  const config::Config& config = experiment.loaded.config;
  const bool one_of_many = arguments.rank || arguments.ranks || !arguments.rendezvous.empty();
  const std::string ranks = std::to_string(config.ranks);
  const bool live = config.backend == config::Backend::kLive;
  if (config.backend == config::Backend::kSim) {
    const std::string right = "use --backend live or mlx5, or leave it out";
    if (arguments.processes != 1) {
      Refuse("--processes", "the simulator is one process", right);
    }
    if (one_of_many) Refuse("--rank", "the simulator is one process", right);
    if (arguments.timeline && arguments.quiet) {
      Refuse("--timeline", "prints the way of a put, and --quiet prints nothing",
             "leave out one of the two");
    }
    return;
  }
  if (live && config.live.wire == config::LiveWire::kUdp &&
      experiment.platform.link_layer != "roce") {
    throw config::ConfigError(
        experiment.loaded.PositionOf("live.wire"), "live.wire",
        {"udp carries RoCEv2, and the link of platform " + config.platform + " is InfiniBand",
         "use shared_memory, or a platform with link_layer: roce"});
  }
  if (config::RunsKernels(config)) {
    const std::string why = workloads::WhyNoGpu();
    if (!why.empty()) {
      throw config::ConfigError(
          experiment.loaded.PositionOf("live.threads"), "live.threads",
          {why, config::IsCaller(config) ? "use host with workload.kind: message_rate"
                                         : "use host, or backend sim"});
    }
  }
  const std::string name = live ? "backend live" : "backend mlx5";
  const auto has_no = [&](const char* what) { return name + " has no " + what; };
  if (!arguments.trace.empty()) Refuse("--trace", has_no("trace"), "leave it out");
  if (arguments.timeline) Refuse("--timeline", has_no("trace"), "leave it out");
  if (!arguments.pcap.empty()) Refuse("--pcap", has_no("capture"), "leave it out");
  if (!arguments.lookups.empty()) Refuse("--lookups", has_no("cache"), "leave it out");
  if (arguments.processes != 1 && arguments.processes != config.ranks) {
    Refuse("--processes", "a process has one rank, or all of them", "use 1 or " + ranks);
  }
  if (!one_of_many) return;
  if (!arguments.rank || !arguments.ranks || arguments.rendezvous.empty()) {
    Refuse("--rank", "a rank must know how many there are and where they meet",
           "give --rank, --ranks and --rendezvous together");
  }
  if (arguments.processes != 1) Refuse("--processes", "this process is one rank", "leave it out");
  if (*arguments.ranks != config.ranks) {
    Refuse("--ranks", "the configuration says otherwise", "use " + ranks + ", its key ranks");
  }
  if (*arguments.rank >= config.ranks) {
    Refuse("--rank", "there is no such rank", "use 0 to " + std::to_string(config.ranks - 1));
  }
}

// The same run for the other ranks, which print nothing.
std::vector<std::string> ArgumentsOfChildren(const RunArguments& arguments) {
  std::vector<std::string> words = {"run", arguments.options.config, "--quiet"};
  const auto add = [&words](const char* option, const std::string& value) {
    if (value.empty()) return;
    words.push_back(option);
    words.push_back(value);
  };
  for (const std::string& set : arguments.options.sets) add("--set", set);
  add("--backend", arguments.options.backend);
  add("--seed", arguments.options.seed);
  return words;
}

workloads::RunResult RunHere(const RunArguments& arguments, const Experiment& experiment,
                             workloads::RunOptions options) {
  ChildRanks children(ArgumentsOfChildren(arguments), arguments.processes);
  if (arguments.processes > 1) {
    options.ranks.rendezvous = "127.0.0.1:0";
    options.ranks.listening = [&children](uint16_t port) { children.Start(port); };
  } else if (arguments.rank) {
    options.ranks.rendezvous = arguments.rendezvous;
    options.ranks.rank = *arguments.rank;
  }
  Progress progress(1);
  progress.Next(arguments.options.config);
  workloads::RunResult result =
      workloads::Run(experiment.loaded.config, experiment.platform, options);
  if (!result.ok) return result;
  result.error = children.Wait();
  result.ok = result.error.empty();
  return result;
}

}  // namespace

std::string ResultText(const Experiment& experiment, const workloads::RunResult& result) {
  std::string text = IdentityLine(experiment) + "\n";
  for (const workloads::Circumstance& fact : result.circumstances) {
    text += fmt::format("{:<28} {}\n", fact.name, fact.value);
  }
  for (const workloads::Metric& metric : result.metrics) {
    text += fmt::format("{:<28} {:>12.4f} {}\n", metric.name, metric.value, metric.unit);
  }
  for (const auto& [name, count] : result.counters) {
    text += fmt::format("{:<28} {:>12}\n", name, count);
  }
  if (result.pace) {
    text += fmt::format(
        "pace: {} of {} completions came later than the platform's; median {:.3f} us, p99 {:.3f} "
        "us, "
        "most {:.3f} us\n",
        result.pace->late, result.pace->late + result.pace->held, result.pace->late_median_us,
        result.pace->late_p99_us, result.pace->late_max_us);
  }
  if (!result.limited_by.empty()) text += fmt::format("limited by: {}\n", result.limited_by);
  // The ordering checker watches simulated memory alone.
  return result.measured ? text : text + ViolationText(result);
}

std::string ResultJson(const Experiment& experiment, const workloads::RunResult& result) {
  const config::Config& config = experiment.loaded.config;
  Json json;
  json["version"] = kVersion;
  constexpr const char* kBackends[] = {"sim", "live", "mlx5"};
  json["backend"] = kBackends[static_cast<size_t>(config.backend)];
  json["source"] = result.measured ? "measured" : "simulated";
  json["platform"] = config.platform;
  json["config_hash"] = experiment.hash;
  json["seed"] = config.seed;
  for (const workloads::Circumstance& fact : result.circumstances) {
    json["measured_on"][fact.name] = fact.value;
  }
  json["metrics"] = Json::object();
  for (const workloads::Metric& metric : result.metrics) {
    json["metrics"][metric.name] = {{"value", metric.value}, {"unit", metric.unit}};
  }
  json["counters"] = Json::object();
  for (const auto& [name, count] : result.counters) json["counters"][name] = count;
  if (result.pace) {
    json["pace"] = {{"held", result.pace->held},
                    {"late", result.pace->late},
                    {"late_median_us", result.pace->late_median_us},
                    {"late_p99_us", result.pace->late_p99_us},
                    {"late_max_us", result.pace->late_max_us}};
  }
  if (!result.measured) {
    json["limited_by"] = result.limited_by;
    json["violations"] = {{"count", result.violation_count}, {"reports", result.violations}};
  }
  json["config"] = Json::object();
  for (const config::EffectiveEntry& entry : experiment.loaded.effective) {
    json["config"][entry.key] = entry.value;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int RunRunCommand(const RunArguments& arguments, std::ostream& out) {
  const Experiment experiment = LoadExperiment(MakeSources(arguments.options));
  Check(arguments, experiment);
  std::optional<OutputFile> json;
  std::optional<OutputFile> trace;
  std::optional<OutputFile> pcap;
  std::optional<OutputFile> lookups;
  workloads::RunOptions options;
  std::vector<std::string> taken = {arguments.options.config,
                                    config::PlatformPath(experiment.loaded.config.platform)};
  for (const std::string& file : config::FilesOf(experiment.platform)) taken.push_back(file);
  const auto open = [&taken](std::optional<OutputFile>& file, const char* option,
                             const std::string& path) {
    if (path.empty()) return std::string();
    file.emplace(option, path, taken);
    taken.push_back(path);
    return file->pending_path();
  };
  open(json, "--json", arguments.json);
  options.trace_file = open(trace, "--trace", arguments.trace);
  if (arguments.timeline) options.timeline = ParseWish(*arguments.timeline);
  options.pcap_file = open(pcap, "--pcap", arguments.pcap);
  options.lookups_file = open(lookups, "--lookups", arguments.lookups);
  const workloads::RunResult result = RunHere(arguments, experiment, options);
  if (!result.ok) {
    PrintError("ringpost: the run failed: " + result.error);
    return kFailed;
  }
  const std::string timeline = options.timeline ? TimelineText(*options.timeline, result) : "";
  if (!arguments.quiet) out << ResultText(experiment, result) << timeline;
  if (json) json->Write(ResultJson(experiment, result));
  if (trace) trace->Commit();
  if (pcap) pcap->Commit();
  if (lookups) lookups->Commit();
  const bool asked_for = experiment.loaded.config.transport.unsafe;
  return result.violation_count > 0 && !asked_for ? kFound : kClean;
}

}  // namespace ringpost::tools
