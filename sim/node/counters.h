// counters.h: what one NIC counts in virtual time: what its function does, and what that took.
#pragma once

#include <cstdint>

#include "sim/nic/rnic_counters.h"

namespace ringpost::sim {

// X(name): one 64-bit counter.
#define RINGPOST_NODE_COUNTERS(X)                              \
  X(records_late)   /* a doorbell record trailed its ring */   \
  X(doorbells_lost) /* these and the next three: by a fault */ \
  X(packets_lost)   /* or sent to a LID of nobody */           \
  X(packets_duplicated)                                        \
  X(packets_reordered)                                         \
  X(icrc_errors) /* received corrupt, and dropped */           \
  X(dma_reads)                                                 \
  X(dma_read_bytes)                                            \
  X(dma_writes)                                                \
  X(dma_write_bytes)                                           \
  X(wire_bytes_sent)                                           \
  X(requester_context_hits)                                    \
  X(requester_context_second_level_hits) /* among the hits */  \
  X(requester_context_misses)                                  \
  X(requester_context_evictions)                               \
  X(responder_context_hits)                                    \
  X(responder_context_second_level_hits)                       \
  X(responder_context_misses)                                  \
  X(responder_context_evictions)                               \
  X(mpt_hits) /* of keys and, below, of pages; both roles */   \
  X(mpt_misses)                                                \
  X(mtt_hits)                                                  \
  X(mtt_misses)                                                \
  X(wqe_hits) /* at a WQE's turn to be sent */                 \
  X(wqe_misses)

struct NodeCounters {
#define RINGPOST_DECLARE(name) uint64_t name = 0;
  RINGPOST_NODE_COUNTERS(RINGPOST_DECLARE)
#undef RINGPOST_DECLARE
};

struct Counters : RnicCounters, NodeCounters {};

template <class F>
void ForEachCounter(const Counters& counters, F&& visit) {
  ForEachCounter(static_cast<const RnicCounters&>(counters), visit);
#define RINGPOST_VISIT(name) visit(#name, counters.name);
  RINGPOST_NODE_COUNTERS(RINGPOST_VISIT)
#undef RINGPOST_VISIT
}

}  // namespace ringpost::sim
