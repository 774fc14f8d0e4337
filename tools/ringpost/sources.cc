#include "tools/ringpost/sources.h"

namespace ringpost::tools {

config::Sources MakeSources(const ConfigOptions& options) {
  config::Sources sources{options.config, config::ParseEnvironment(config::SetFromEnvironment())};
  int number = 0;
  for (const std::string& set : options.sets) {
    sources.assignments.push_back(config::ParseSet(set, ++number));
  }
  const auto add = [&sources](const std::string& key, const std::string& value) {
    if (value.empty()) return;
    const config::Position place{"--" + key, 1, 1};
    sources.assignments.push_back({key, value, place, place});
  };
  add("backend", options.backend);
  add("seed", options.seed);
  return sources;
}

}  // namespace ringpost::tools
