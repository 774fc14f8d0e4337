#include "tools/ringpost/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "configs/schema/config_error.h"
#include "configs/schema/config_hash.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "tools/ringpost/version.h"

namespace ringpost::tools {
namespace {

// What a configuration asks of a simulated platform that has it not.
void CheckPlatform(const config::Loaded& loaded, const sim::Platform& platform) {
  const uint64_t asked = loaded.config.workload.sms_count;
  const auto sms = static_cast<uint64_t>(platform.sms_count.value);
  if (loaded.config.backend != config::Backend::kSim || asked <= sms) return;
  throw config::ConfigError(
      loaded.PositionOf("workload.sms_count"), "workload.sms_count",
      {fmt::format("{} SMs, and the GPU of platform {} has {}", asked, loaded.config.platform, sms),
       fmt::format("use at most {}", sms)});
}

}  // namespace

Experiment LoadExperiment(const config::Sources& sources) {
  Platforms platforms;
  return LoadExperiment(sources, platforms);
}

Experiment LoadExperiment(const config::Sources& sources, Platforms& platforms) {
  Experiment experiment;
  experiment.loaded = config::Load(sources);
  const std::string& name = experiment.loaded.config.platform;
  auto known = platforms.find(name);
  if (known == platforms.end()) known = platforms.emplace(name, config::LoadPlatform(name)).first;
  experiment.platform = known->second;
  CheckPlatform(experiment.loaded, experiment.platform);
  experiment.hash = config::ConfigHash(experiment.loaded.effective, experiment.platform);
  return experiment;
}

std::string ExperimentPath(const std::string& name) {
  if (name.ends_with(".yaml")) return name;
  return config::FindRoot() + "/configs/experiments/" + name + ".yaml";
}

std::vector<std::string> ExperimentNames() {
  std::vector<std::string> names;
  std::error_code error;
  const std::string folder = config::FindRoot() + "/configs/experiments";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Runner RealRunner() {
  return [](const config::Config& config, const sim::Platform& platform) {
    return workloads::Run(config, platform, {});
  };
}

const workloads::RunResult& Runs::Of(const Experiment& experiment) {
  const auto [entry, is_new] = results_.try_emplace(experiment.hash);
  workloads::RunResult& result = entry->second;
  if (is_new) {
    try {
      result = runner_(experiment.loaded.config, experiment.platform);
    } catch (const std::exception& error) {
      result.ok = false;
      result.error = error.what();
    }
  }
  return result;
}

const workloads::Metric* FindMetric(const workloads::RunResult& result, const std::string& name) {
  for (const workloads::Metric& metric : result.metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

namespace {

std::string LineOf(const char* backend, const std::string& platform, const std::string& hash,
                   uint64_t seed) {
  return fmt::format("ringpost {} | {} | platform {} | config {} | seed {}", kVersion, backend,
                     platform, hash, seed);
}

}  // namespace

std::string IdentityLine(const std::string& platform, const std::string& hash, uint64_t seed) {
  return LineOf("simulated | backend sim", platform, hash, seed);
}

std::string IdentityLine(const Experiment& experiment) {
  const config::Config& config = experiment.loaded.config;
  constexpr const char* kBackends[] = {"simulated | backend sim", "measured | backend live",
                                       "measured | backend mlx5"};
  return LineOf(kBackends[static_cast<size_t>(config.backend)], config.platform, experiment.hash,
                config.seed);
}

}  // namespace ringpost::tools
