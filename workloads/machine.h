// machine.h: what a workload runs on: ranks with a NIC each, in virtual or in real time, of which
// all or one are in this process.
//
// All processes of a run make the same calls in the same order. One thread calls.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/sim/fabric.h"
#include "transport/host_port.h"
#include "transport/nic.h"
#include "transport/result.h"

namespace ringpost::workloads {

// One kernel for each kind of thread; a machine runs one of them.
struct Kernels {
  std::function<void(SimPort& port)> simulated;
  std::function<void(HostPort& port, uint32_t thread)> live;
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
  virtual void Launch(uint32_t rank, const sim::LaunchShape& shape, Kernels kernels) = 0;
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
