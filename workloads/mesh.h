// mesh.h: queue pairs between the ranks of a simulated machine.
#pragma once

#include <functional>
#include <vector>

#include "backends/sim/fabric.h"
#include "workloads/outcome.h"

namespace ringpost::workloads {

// By rank, then peer, then queue.
using Mesh = std::vector<std::vector<std::vector<QpView>>>;

// Queues as `spec` says, `count` of each rank to each other. RC: a pair for each, where `between`
// says that one of the two sends to the other. DC: a rank's DCIs send to all peers, and to the
// first target that a peer has; each peer has views of its own of them. Fails with one line in
// `outcome`.
Mesh ConnectMesh(Fabric& fabric, const QpSpec& spec, uint32_t count,
                 const std::function<bool(uint32_t rank, uint32_t peer)>& between,
                 Outcome& outcome);

}  // namespace ringpost::workloads
