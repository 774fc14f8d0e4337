// library_loader.h: reads a file of configs/libraries: what a production library is made of here.
//
//   base: nvshmem_internal            # starts from another file; its keys and lists come first
//   repository: NVIDIA/nvshmem        # whose source at `commit` the lists below were read from
//   commit: 2d7d25f0816235e3c2b51779571ec032606ea0dd
//   transport: {ordering: threadfence}     # also proxy: and workload:, keys of an experiment
//   operations:
//     per_thread:                     # a publication, or a hand-off to a proxy
//       build:                        # a step of transport/step.h
//         - {op: load_gpu, count: 3, source: "ibgda_device.cuh: ibgda_get_rc"}
//
// An operation is one that a thread does beside those that the transport does in its place; the
// platform has its cost. Nothing else can be said, so that no library can be fitted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "configs/schema/yaml_file.h"
#include "sim/cost/operation_lists.h"

namespace ringpost::config {

struct Library {
  // The blocks transport, proxy and workload of its files, base first.
  struct Preset {
    YamlText yaml;
    std::string block;
    YAML::Node keys;
  };
  std::vector<Preset> presets;
  std::map<std::string, sim::OperationLists> operations;  // by who does them
};

// `name` is a file of configs/libraries without .yaml, or a path that ends in .yaml. Throws
// ConfigError.
Library LoadLibrary(const std::string& name);

// Of a file's lists: "build: load_gpu 3, store 1", a line each step.
std::string CanonicalText(const sim::OperationLists& lists);

}  // namespace ringpost::config
