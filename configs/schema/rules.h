// rules.h: the list of faults in a configuration.
#pragma once

#include "configs/schema/schema.h"
#include "configs/schema/yaml_file.h"

namespace ringpost::config {

// Reads the list at `node`, the value of `key`; throws ConfigError.
Value ReadRules(const YamlText& yaml, const YAML::Node& node, const KeyInfo& key);

}  // namespace ringpost::config
