#include "tools/ringpost/run_command.h"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/output_file.h"
#include "tools/ringpost/progress.h"
#include "tools/ringpost/version.h"

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

}  // namespace

std::string ResultText(const Experiment& experiment, const workloads::RunResult& result) {
  const config::Config& config = experiment.loaded.config;
  std::string text = IdentityLine(config.platform, experiment.hash, config.seed) + "\n";
  for (const workloads::Metric& metric : result.metrics) {
    text += fmt::format("{:<28} {:>12.4f} {}\n", metric.name, metric.value, metric.unit);
  }
  for (const auto& [name, count] : result.counters) {
    text += fmt::format("{:<28} {:>12}\n", name, count);
  }
  if (!result.limited_by.empty()) text += fmt::format("limited by: {}\n", result.limited_by);
  return text + ViolationText(result);
}

std::string ResultJson(const Experiment& experiment, const workloads::RunResult& result) {
  const config::Config& config = experiment.loaded.config;
  Json json;
  json["version"] = kVersion;
  json["backend"] = "sim";
  json["source"] = "simulated";
  json["platform"] = config.platform;
  json["config_hash"] = experiment.hash;
  json["seed"] = config.seed;
  json["metrics"] = Json::object();
  for (const workloads::Metric& metric : result.metrics) {
    json["metrics"][metric.name] = {{"value", metric.value}, {"unit", metric.unit}};
  }
  json["counters"] = Json::object();
  for (const auto& [name, count] : result.counters) json["counters"][name] = count;
  json["limited_by"] = result.limited_by;
  json["violations"] = {{"count", result.violation_count}, {"reports", result.violations}};
  json["config"] = Json::object();
  for (const config::EffectiveEntry& entry : experiment.loaded.effective) {
    json["config"][entry.key] = entry.value;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int RunRunCommand(const RunArguments& arguments, std::ostream& out) {
  const Experiment experiment = LoadExperiment(MakeSources(arguments.options));
  std::optional<OutputFile> json;
  std::optional<OutputFile> trace;
  std::optional<OutputFile> pcap;
  workloads::RunOptions options;
  if (!arguments.json.empty()) json.emplace("--json", arguments.json);
  if (!arguments.trace.empty()) {
    trace.emplace("--trace", arguments.trace);
    options.trace_file = trace->pending_path();
  }
  if (!arguments.pcap.empty()) {
    pcap.emplace("--pcap", arguments.pcap);
    options.pcap_file = pcap->pending_path();
  }
  workloads::RunResult result;
  {
    Progress progress(1);
    progress.Next(arguments.options.config);
    result = workloads::Run(experiment.loaded.config, experiment.platform, options);
  }
  if (!result.ok) {
    std::cerr << "ringpost: the run failed: " << result.error << "\n";
    return kFailed;
  }
  if (!arguments.quiet) out << ResultText(experiment, result);
  if (json) json->Write(ResultJson(experiment, result));
  if (trace) trace->Commit();
  if (pcap) pcap->Commit();
  const bool asked_for = experiment.loaded.config.transport.unsafe;
  return result.violation_count > 0 && !asked_for ? kFound : kClean;
}

}  // namespace ringpost::tools
