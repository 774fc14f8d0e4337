// loader.h: a configuration file, the environment and --set together make one Config.
//
// Precedence: file < RINGPOST_SET < --set; a key that none of them names has its default. Every
// complaint is a ConfigError: one line that starts with the place of the value. Nothing is read
// but the file itself and the list of platforms under the root (root.h).
//
//   const Loaded loaded = Load({.file = "configs/quickstart.yaml",
//                               .assignments = {ParseSet("seed=7", /*number=*/1)}});
#pragma once

#include <map>
#include <string>
#include <vector>

#include "configs/schema/config.h"
#include "configs/schema/config_error.h"

namespace ringpost::config {

// A key set from outside the file, and where it was written.
struct Assignment {
  std::string key;
  std::string value;
  Position key_position;
  Position value_position;
};

// Later assignments replace earlier ones.
struct Sources {
  std::string file;  // empty: none
  std::vector<Assignment> assignments;
};

// "seed=7 workload.payload=8 B": a word without '=' belongs to the value before it.
std::vector<Assignment> ParseEnvironment(const std::string& text);

// "key=value", the number-th --set of a command line (from 1).
Assignment ParseSet(const std::string& text, int number);

struct Loaded {
  Config config;
  Effective effective;
  std::map<std::string, Position> positions;  // of the keys that somebody set

  // Where the key was set.
  Position PositionOf(const std::string& key) const {
    const auto found = positions.find(key);
    return found == positions.end() ? Position{"default", 1, 1} : found->second;
  }
};

Loaded Load(const Sources& sources);

// The value of RINGPOST_SET, empty where it is not set.
std::string SetFromEnvironment();

// The effective configuration as YAML, the origin of each value in a comment.
std::string ToYaml(const Effective& effective);

// The same without origins: what the hash of a configuration covers.
std::string CanonicalText(const Effective& effective);

}  // namespace ringpost::config
