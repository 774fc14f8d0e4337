// exec_trace.h: what NICs of programs have written down, in the form of `ringpost run --trace`.
//
// Each device of each process has two groups of tracks: the stages of its NIC, and its QPs, where
// each WQE is a slice from the doorbell that announced it to the CQE that confirms it. Arrows lead
// through the steps of a WQE, also those of a peer that is among `nics`. Numbers of groups come
// from those of processes, and times are the steady clock's without whole millions of seconds: the
// events of files of one machine can be put together.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "sim/engine/time.h"
#include "sim/service/read_observation.h"

namespace ringpost::tools {

// Of the steady clock's nanoseconds.
sim::Time TraceTime(uint64_t ns);

void WriteExecTrace(const std::vector<sim::service::ObservedNic>& nics, std::ostream& out);

}  // namespace ringpost::tools
