// trace_file.h: a traced run in the JSON that Perfetto and chrome://tracing open.
//
// Each node has three groups of tracks: its threads (issue, wait), the stages of its NIC, and its
// QPs, where each put is a slice with its stages below it. Arrows lead from the issue of a put
// through the stages to the wait that ends with its CQE. Times are virtual (trace_writer.h).
#pragma once

#include <ostream>
#include <vector>

#include "backends/sim/put_path.h"
#include "sim/node/trace.h"

namespace ringpost {

// The same text for the same run.
void WriteTrace(const sim::Trace& trace, const std::vector<PutPath>& paths, const PeerOf& peer_of,
                std::ostream& out);

}  // namespace ringpost
