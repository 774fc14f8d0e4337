// cache_reader.h: reads one cache of a platform file: its model, and what that model needs.
#pragma once

#include <string>

#include "configs/schema/yaml_file.h"
#include "sim/cost/platform.h"

namespace ringpost::config {

struct CacheChoice {
  sim::CacheSpec spec;
  sim::Parameter second_level_hit;  // of two_level
};

// `path` names the map in errors. Each key that the model has must be there, and no other. Throws
// ConfigError.
CacheChoice ReadCache(const YamlText& yaml, const YAML::Node& node, const std::string& path);

// All that matters of it in one canonical text.
std::string CacheText(const CacheChoice& cache);

// "PATH.second_level_hit: 0 cycles 100 ns"
std::string SecondLevelText(const std::string& path, const sim::Parameter& hit);

}  // namespace ringpost::config
