// platform_loader.h: reads a platform file into sim::Platform.
//
// The keys are those of sim::Parameters(), one map each with its number, `provenance` and `source`;
// link_layer; and the blocks caches.requester_context and caches.responder_context. Every
// parameter must be there, or in the platform that `base` names; anything else is an error. Throws
// ConfigError.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/cost/platform.h"

namespace ringpost::config {

// `name` is a file of configs/platforms without .yaml, or a path that ends in .yaml.
sim::Platform LoadPlatform(const std::string& name);
sim::Platform LoadPlatformFile(const std::string& path);

// Where its numbers stand.
struct PlatformSource {
  std::string base;           // empty: none
  std::set<std::string> own;  // keys of its own file, as "nic.transmit"; the others are its base's
};
PlatformSource SourceOf(const std::string& name);

// What it reads beside its own file: recordings of caches.
std::vector<std::string> FilesOf(const sim::Platform& platform);

// Every number of the platform in one canonical text, without provenance and source: what the hash
// of a configuration covers.
std::string CanonicalText(const sim::Platform& platform);

// The parameters of this provenance, as "nic.transmit: 0 cycles 3.85 ns". What platforms have in
// common is there once.
std::set<std::string> ParametersOf(const std::vector<sim::Platform>& platforms,
                                   sim::Provenance provenance);

}  // namespace ringpost::config
