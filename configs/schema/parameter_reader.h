// parameter_reader.h: reads one number of a platform file, with its provenance and source.
#pragma once

#include <string>

#include "configs/schema/yaml_file.h"
#include "sim/cost/platform.h"

namespace ringpost::config {

// Throws ConfigError under the key of `info`; its member is not used.
sim::Parameter ReadParameter(const YamlText& yaml, const YAML::Node& node,
                             const sim::ParameterInfo& info);

// "give {value: 132, provenance: ..., source: ...}": what is right for it.
std::string FormOf(const sim::ParameterInfo& info);

// Its number alone, in one canonical text.
std::string NumberText(const sim::ParameterInfo& info, const sim::Parameter& parameter);

}  // namespace ringpost::config
