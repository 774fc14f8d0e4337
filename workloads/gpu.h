// gpu.h: the GPU of one rank, as workloads use it: its memory, and kernels that run on it.
//
// Free of CUDA: gpu.cu implements it where the CUDA Toolkit is, no_cuda.cc says elsewhere that
// there is none; a test may put host threads in its place. One thread uses an object, which
// outlives the NICs that use its memory. What fails says why in one line.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/device_access.h"
#include "transport/memory.h"
#include "transport/result.h"
#include "workloads/gpu_jobs.h"

namespace ringpost::workloads {

class Gpu {
 public:
  virtual ~Gpu() = default;

  virtual MemoryProvider& Memory() = 0;
  // How a NIC's thread reaches that memory; called once for each NIC.
  virtual Result<std::unique_ptr<DeviceAccess>> Reach() = 0;

  // Starts the kernel, or says why not. Nothing else is started until Wait() has returned.
  virtual std::string Start(const GpuKernel& kernel) = 0;
  virtual std::string Wait() = 0;
  // How long it ran, as the GPU saw it.
  virtual double Milliseconds() const = 0;

  // What a kernel takes of an SM.
  struct Use {
    int registers = 0;      // of a thread
    int blocks_per_sm = 0;  // that run at once
  };
  virtual Result<Use> UseOf(const GpuKernel& kernel) = 0;

  // What it is, for the report of a measured run.
  using Fact = std::pair<std::string, std::string>;
  virtual std::vector<Fact> Facts() const = 0;
};

// Why no kernel can run on this machine, or by this program; empty: it can.
std::string WhyNoGpu();

// The GPU of a rank: GPU r of rank r where there are so many, else they share.
Result<std::unique_ptr<Gpu>> OpenGpu(uint32_t rank);

}  // namespace ringpost::workloads
