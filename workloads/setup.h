// setup.h: what every workload needs before its first kernel: QPs, memory, and who uses what.
#pragma once

#include <memory>
#include <vector>

#include "configs/schema/config.h"
#include "transport/endpoint.h"
#include "workloads/machine.h"
#include "workloads/outcome.h"

namespace ringpost::workloads {

// Two ranks and the QPs between them. QP i of rank 0 is connected to QP i of rank 1. The side of a
// rank that is not in this process is empty.
struct Pairing {
  std::vector<QpView> first;
  std::vector<QpView> second;
};

// A QP as the configuration describes it, for one user.
QpSpec SpecOf(const config::Config& config);

// `qps` pairs between ranks 0 and 1. Fails with one line in `outcome`.
Pairing ConnectRanks(Machine& machine, const config::Config& config, uint32_t qps, bool shared,
                     Outcome& outcome);

// Memory of one rank for payload or flags, wherever that is; fails with one line in `outcome`.
RegisteredMemory AllocateOn(Machine& machine, uint32_t rank, const config::Config& config,
                            uint64_t bytes, Outcome& outcome);

// How the payload travels: in the WQE, or behind a pointer.
bool SendsInline(const config::Config& config);

// Threads are spread evenly over the SMs, in blocks of at most 1,024 (CUDA's limit).
uint32_t ThreadsPerBlock(const config::Config& config, uint32_t threads);

// The QPs of one thread, for its Endpoint: all of them lead to the one peer.
// None of them where the rank is not here.
inline QpTable TableFor(const std::vector<QpView>& views, uint32_t selected) {
  const uint32_t count = static_cast<uint32_t>(views.size());
  return {views.data(), count, 0, count, selected};
}

}  // namespace ringpost::workloads
