// exec_config.h: what `ringpost exec` is asked for, as plain values.
#pragma once

#include <cstdint>
#include <string>

#include "configs/schema/words.h"
#include "sim/engine/time.h"

namespace ringpost::config {

// Of `ringpost exec` alone: the virtual devices.
struct ExecConfig {
  uint64_t devices = 0;
  std::string name;  // before each device's number
  uint64_t first_lid = 0;
  ExecLink link = ExecLink::kInfiniband;
  std::string fabric;  // "user": named by the user's id
  ExecPoll poll = ExecPoll::kAuto;
  sim::Duration sleep;
  bool gpu_doorbells = false;  // CUDA takes a register of a virtual device
  std::string record;          // "off", or the file
  uint64_t trace_steps = 0;    // a power of two
};

}  // namespace ringpost::config
