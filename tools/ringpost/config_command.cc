#include "tools/ringpost/config_command.h"

#include "configs/schema/loader.h"
#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/experiment.h"
#include "tools/ringpost/sources.h"

namespace ringpost::tools {

int RunConfigCommand(const ConfigArguments& arguments, std::ostream& out) {
  const Experiment experiment =
      LoadExperiment(MakeSources({.config = arguments.config, .sets = arguments.sets}));
  const config::Config& config = experiment.loaded.config;
  out << "# " << IdentityLine(config.platform, experiment.hash, config.seed) << "\n"
      << config::ToYaml(experiment.loaded.effective);
  return kClean;
}

}  // namespace ringpost::tools
