// gpu_caller.h: the callers of one workload, variant after variant, on a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/callers.h"
#include "workloads/gpu.h"
#include "workloads/machine.h"

namespace ringpost::workloads {

struct CallerArguments {
  CallerWork work = CallerWork::kCompute;
  uint32_t live_values = 8;
  uint32_t messages = 0;      // of each block and kernel
  uint32_t rounds = 0;        // of each thread and kernel
  uint64_t data_words = 0;    // kStream: floats, a power of two
  uint64_t warm_up = 0;       // kernels
  uint64_t repetitions = 1;   // kernels that are measured
  std::vector<QpView> views;  // by block
  RemoteSpan target;
};

// What one variant cost.
struct CallerRow {
  std::string name;
  Gpu::Use use;
  double milliseconds = 0;  // median of the repetitions
};

struct CallerResults {
  std::vector<CallerRow> rows;
  uint64_t sent = 0;  // messages of each block, of all kernels together
};

// All kernels run and end within Start().
std::unique_ptr<GpuLaunch> LaunchCallers(Gpu& gpu, const GpuGrid& grid,
                                         const CallerArguments& arguments, CallerResults* results,
                                         Outcome* outcome);

}  // namespace ringpost::workloads
