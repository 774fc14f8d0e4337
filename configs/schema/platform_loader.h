// platform_loader.h: reads a platform file into sim::Platform.
//
// The keys are those of sim::Parameters(), one map each with its number, `provenance` and `source`;
// link_layer; and the blocks caches.requester_context and caches.responder_context. Every
// parameter must be there; anything else is an error. Throws ConfigError.
#pragma once

#include <string>
#include <vector>

#include "sim/cost/platform.h"

namespace ringpost::config {

// `name` is a file of configs/platforms without .yaml, or a path that ends in .yaml.
sim::Platform LoadPlatform(const std::string& name);
sim::Platform LoadPlatformFile(const std::string& path);

// Every number of the platform in one canonical text, without provenance and source: what the hash
// of a configuration covers.
std::string CanonicalText(const sim::Platform& platform);

// Keys of the parameters of this provenance.
std::vector<std::string> ParametersOf(const sim::Platform& platform, sim::Provenance provenance);

}  // namespace ringpost::config
