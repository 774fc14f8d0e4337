// cache_reader.h: reads one cache of a platform file: its model, and what that model needs.
#pragma once

#include <map>
#include <string>

#include "configs/schema/yaml_file.h"
#include "sim/cost/platform.h"

namespace ringpost::config {

struct CacheChoice {
  sim::CacheSpec spec;
  sim::CacheTimes times;
};

// `path` names the map in errors. Each key that the model has must be there, and no other. Throws
// ConfigError.
CacheChoice ReadCache(const YamlText& yaml, const YAML::Node& node, const std::string& path);

// The same of the translations of keys (caches.mpt) or of pages (caches.mtt), which may also be
// part of another cache: {shares: mpt}. Of pages it has their size.
CacheChoice ReadTranslations(const YamlText& yaml, const YAML::Node& node, const std::string& path);

// All that matters of it in one canonical text.
std::string CacheText(const CacheChoice& cache);

// Those of its times that it has, as "PATH.second_level_hit".
std::map<std::string, const sim::Parameter*> TimesOf(const std::string& path,
                                                     const sim::CacheTimes& times);

// "KEY: 0 cycles 100 ns"
std::string TimeText(const std::string& key, const sim::Parameter& time);

}  // namespace ringpost::config
