// readiness.h: what each backend lacks on a machine, and what would bring it.
#pragma once

#include <string>
#include <vector>

#include "tools/ringpost/probe_devices.h"
#include "tools/ringpost/probe_host.h"

namespace ringpost::tools {

struct Machine {
  Host host;
  std::vector<RdmaDevice> rdma;
  std::vector<Gpu> gpus;
  GpuDriver gpu_driver;
};

struct Lack {
  std::string what;
  std::string remedy;  // a command where one is enough
};

struct Readiness {
  std::string backend;
  std::vector<Lack> lacks;  // none: it is ready
};

Machine ProbeMachine(const SystemFiles& files);

// Of sim, live and mlx5.
std::vector<Readiness> JudgeBackends(const Machine& machine);
// What is missing for a GPU that posts and rings by itself, besides what backend mlx5 lacks.
std::vector<Lack> JudgeGpuPath(const Machine& machine);
// What works, but not as well as it could.
std::vector<Lack> JudgeAffinity(const Machine& machine);

}  // namespace ringpost::tools
