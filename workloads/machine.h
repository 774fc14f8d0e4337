// machine.h: what a workload runs on: ranks with a NIC each, in virtual or in real time, of which
// all or one are in this process.
//
// All processes of a run make the same calls in the same order. One thread calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sim/fabric.h"
#include "transport/host_port.h"
#include "transport/nic.h"
#include "transport/result.h"

namespace ringpost::workloads {

class Gpu;

// How a kernel's threads are spread, and the policies that they use.
struct GpuGrid {
  uint32_t threads = 1;
  uint32_t threads_per_block = 1;
  std::string_view publication;
  std::string_view ordering;
};

// A kernel on the way to a GPU: both in one line what went wrong, or nothing.
class GpuLaunch {
 public:
  virtual ~GpuLaunch() = default;
  virtual std::string Start() = 0;
  // When it has ended: what it found is where the workload looks for it.
  virtual std::string Finish() = 0;
};

// One kernel for each kind of thread; a machine runs one of them.
struct Kernels {
  std::function<void(SimPort& port)> simulated;
  std::function<void(HostPort& port, uint32_t thread)> live;
  std::function<std::unique_ptr<GpuLaunch>(Gpu& gpu, const GpuGrid& grid)> gpu;
};

// A thread of the host that serves the kernels of its rank until its port's Relax says that they
// have ended. `index`: which of those that do the same.
struct Servers {
  std::function<void(SimHostPort& port, uint32_t index)> simulated;
  std::function<void(HostPort& port, uint32_t index)> live;
};

class Machine {
 public:
  virtual ~Machine() = default;

  virtual uint32_t Ranks() const = 0;
  // Whether the rank's NIC, memory and threads are in this process.
  virtual bool Owns(uint32_t rank) const = 0;
  virtual Nic& nic(uint32_t rank) = 0;  // of a rank that it owns

  // What every rank gives, by rank. `mine` has this process's parts at their places.
  virtual Result<std::vector<std::string>> Exchange(std::vector<std::string> mine,
                                                    const std::string& what) = 0;
  // The other processes' present or next call fails for this reason.
  virtual void Abort(const std::string& reason) = 0;

  // Threads that post together: a whole warp, or what a block has of one.
  virtual uint32_t WarpLanes(uint32_t threads_per_block) const = 0;
  // Of each wait on a QP, in picoseconds; 0: for ever.
  virtual uint64_t TimeoutPs() const = 0;

  // The kernel runs on this rank's threads, which begin with Run().
  virtual void Launch(uint32_t rank, const sim::LaunchShape& shape, const GpuGrid& grid,
                      Kernels kernels) = 0;
  // So many threads of the rank's host serve beside the kernels of each Run(). The rank is here.
  virtual void Serve(uint32_t rank, uint32_t threads, Servers servers) = 0;
  // Until all kernels of all ranks have ended. Empty, or what went wrong in one line.
  virtual std::string Run() = 0;

  // Memory of ranks that it owns, from outside.
  virtual void Poke(uint64_t address, const void* bytes, uint64_t size) = 0;
  virtual void Peek(uint64_t address, void* bytes, uint64_t size) = 0;
  template <class T>
  T Read(uint64_t address) {
    T value;
    Peek(address, &value, sizeof(value));
    return value;
  }
};

}  // namespace ringpost::workloads
