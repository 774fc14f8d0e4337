// join_ranks.h: joins the other processes where mpirun or srun has started this one.
#pragma once

#include <memory>

#include "tools/ringpost/sweep/ranks.h"

namespace ringpost::tools {

// None where this process was started alone. Throws std::runtime_error where it was not, and MPI is
// not there or does not see the others.
std::unique_ptr<Ranks> JoinRanks();

}  // namespace ringpost::tools
