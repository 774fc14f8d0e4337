// experiment.h: a configuration with its platform, and its runs: each distinct one runs once.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "configs/schema/config.h"
#include "configs/schema/loader.h"
#include "sim/cost/platform.h"
#include "workloads/runner.h"

namespace ringpost::tools {

struct Experiment {
  config::Loaded loaded;
  sim::Platform platform;
  std::string hash;
};

// Throws config::ConfigError.
Experiment LoadExperiment(const config::Sources& sources);

// The same for many of them: a platform by name is read once.
using Platforms = std::map<std::string, sim::Platform>;
Experiment LoadExperiment(const config::Sources& sources, Platforms& platforms);

// configs/experiments/NAME.yaml under the root, or `name` itself when it ends in .yaml.
std::string ExperimentPath(const std::string& name);

// Those of configs/experiments, without .yaml.
std::vector<std::string> ExperimentNames();

using Runner = std::function<workloads::RunResult(const config::Config&, const sim::Platform&)>;

// workloads::Run without options.
Runner RealRunner();

// Remembers results by configuration hash. Exceptions of a run become its error.
class Runs final {
 public:
  explicit Runs(Runner runner) : runner_(std::move(runner)) {}

  const workloads::RunResult& Of(const Experiment& experiment);

 private:
  Runner runner_;
  std::map<std::string, workloads::RunResult> results_;
};

// Null where the run has no such metric.
const workloads::Metric* FindMetric(const workloads::RunResult& result, const std::string& name);

// "ringpost 0.1.0 | simulated | backend sim | platform p_ib | config 0123456789abcdef | seed 1"
std::string IdentityLine(const std::string& platform, const std::string& hash, uint64_t seed);
// "ringpost 0.1.0 | measured | backend live | ...", if the configuration says so.
std::string IdentityLine(const Experiment& experiment);

}  // namespace ringpost::tools
